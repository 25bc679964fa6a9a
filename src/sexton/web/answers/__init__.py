"""What is asked through the web, answered once for the API and the pages."""
