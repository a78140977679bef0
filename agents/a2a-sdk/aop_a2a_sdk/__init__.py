"""Serves the Skills of an Agent with a2a-sdk 0.3."""

from aop_a2a_sdk.server import RecentTasks, SkillExecutor, sdk_application

__all__ = ["RecentTasks", "SkillExecutor", "sdk_application"]
