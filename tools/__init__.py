"""Development tools of this repository; none of them is part of the package."""
