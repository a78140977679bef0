"""Serves the Skills of an Agent with a2a-sdk 0.3."""

from aop_a2a_sdk.requests import StrictRequests
from aop_a2a_sdk.server import SkillExecutor, sdk_application
from aop_a2a_sdk.tasks import FollowedTasks, RecentTasks

__all__ = ["FollowedTasks", "RecentTasks", "SkillExecutor", "StrictRequests", "sdk_application"]
