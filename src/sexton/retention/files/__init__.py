"""The files of sessions: reached by descriptors below one directory, never through a link."""
