# Web and worker in one image: `doppel serve` is both, `doppel worker` and gunicorn are each alone (docs/operations.md).
# Not the slim one: wordllama has no wheel for Linux on ARM, so that there it is compiled.
FROM python:3.11 AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE app.yml ./
COPY bot bot
COPY handlers handlers
RUN python -m venv /opt/doppel && /opt/doppel/bin/pip install --no-cache-dir .

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home --home-dir /data doppel && chmod 700 /data
COPY --from=build /opt/doppel /opt/doppel
ENV PATH="/opt/doppel/bin:$PATH" DOPPEL_HOME=/data PYTHONUNBUFFERED=1
# The same as in the Procfile: no threads that wait for each other, and memory that is free is given back.
ENV OPENBLAS_NUM_THREADS=1 MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=16777216
# By number, since that is all that a host sees of it.
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 3000
# Running jobs get 25 seconds after this; tell the host to wait for 30 (`docker stop --time 30`).
STOPSIGNAL SIGTERM
# A worker listens nowhere, and says in the database that it lives: /readyz and /metrics of the web process tell.
# A proxy for the way out of the container (HTTP_PROXY) is none for the way to its own port.
HEALTHCHECK --interval=30s --start-period=30s CMD ["python", "-c", "import os, urllib.request as u; b'worker' in open('/proc/1/cmdline', 'rb').read().split(b'\\0') or u.build_opener(u.ProxyHandler({})).open('http://127.0.0.1:' + os.environ.get('PORT', '3000') + '/healthz', timeout=5)"]
CMD ["doppel", "serve"]
