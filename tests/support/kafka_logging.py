"""A broker's logging: `server.log` with the group coordinator at DEBUG, `kafka-request.log` with every request."""

from __future__ import annotations

from pathlib import Path

LAYOUT = "[%d] %p %m (%c)%n"
"""Kafka's own, of its config/log4j.properties and config/log4j2.yaml."""

RELOAD4J = f"""\
log4j.rootLogger=INFO, server
log4j.logger.kafka.coordinator.group=DEBUG
log4j.logger.org.apache.kafka.coordinator.group=DEBUG
log4j.logger.kafka.request.logger=DEBUG, requests
log4j.additivity.kafka.request.logger=false
log4j.appender.server=org.apache.log4j.FileAppender
log4j.appender.server.file=FOLDER/server.log
log4j.appender.server.layout=org.apache.log4j.PatternLayout
log4j.appender.server.layout.conversionPattern={LAYOUT}
log4j.appender.requests=org.apache.log4j.FileAppender
log4j.appender.requests.file=FOLDER/kafka-request.log
log4j.appender.requests.layout=org.apache.log4j.PatternLayout
log4j.appender.requests.layout.conversionPattern={LAYOUT}
"""

LOG4J2 = f"""\
status = error
rootLogger = INFO, server
logger.coordinator.name = org.apache.kafka.coordinator.group
logger.coordinator.level = DEBUG
logger.requests.name = kafka.request.logger
logger.requests.level = DEBUG
logger.requests.additivity = false
logger.requests.appenderRef.requests.ref = requests
appender.server.type = File
appender.server.name = server
appender.server.fileName = FOLDER/server.log
appender.server.layout.type = PatternLayout
appender.server.layout.pattern = {LAYOUT}
appender.requests.type = File
appender.requests.name = requests
appender.requests.fileName = FOLDER/kafka-request.log
appender.requests.layout.type = PatternLayout
appender.requests.layout.pattern = {LAYOUT}
"""


def is_log4j2(version: str) -> bool:
    """Tell which of the two a release of Kafka logs with: log4j 2 since 4.0, else reload4j."""
    return int(version.partition(".")[0]) >= 4


def logging_option(version: str, folder: Path) -> str:
    """Write the logging settings of a broker into the folder of its logs; return Java's option that names them."""
    option, text = ("log4j2.configurationFile", LOG4J2) if is_log4j2(version) else ("log4j.configuration", RELOAD4J)
    settings = folder / "log4j.properties"
    settings.write_text(text.replace("FOLDER", str(folder)), encoding="utf-8")
    return f"-D{option}={settings.as_uri()}"
