"""Who may ask, and how do they show it?"""
