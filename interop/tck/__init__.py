"""The public A2A test kit against the sample Agents, with requests signed as the Router signs them."""
