"""The platform against software of others: the public A2A test kit, and Agents of real frameworks."""
