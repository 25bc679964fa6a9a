"""How do sessions leave their home without anybody waiting for it, and how do they come back?"""
