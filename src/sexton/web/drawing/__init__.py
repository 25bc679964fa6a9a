"""Pictures for pages: SVG, coloured by the style sheet, and told in words to who can not see."""
