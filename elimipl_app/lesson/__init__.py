"""The guided lesson: its plan is data, its progress lives in the address, each step is one file in `steps`."""
