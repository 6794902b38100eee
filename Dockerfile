# An image of the server. The rules are compiled while it is built. On a processor of another type the server
# compiles them again in the background, so the cache belongs to its user.
#
#   docker build --tag axio .
#   docker run --rm --publish 8000:8000 --volume axio:/data axio

FROM python:3.13-slim AS build
WORKDIR /source
RUN python -m venv /opt/axio
COPY requirements/run.txt requirements/
RUN /opt/axio/bin/pip install --no-cache-dir -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/axio/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /opt/axio/bin/pip uninstall --yes hatchling editables pip
ENV AXIO_CACHE_DIR=/cache
RUN /opt/axio/bin/axio compile

FROM python:3.13-slim
RUN useradd --system --uid 1000 --home-dir /data --shell /usr/sbin/nologin axio \
    && install --directory --owner axio --mode 0700 /data
COPY --from=build /opt/axio /opt/axio
COPY --from=build --chown=axio /cache /var/cache/axio
ENV PATH=/opt/axio/bin:$PATH \
    AXIO_CACHE_DIR=/var/cache/axio \
    PYTHONUNBUFFERED=1
USER 1000
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=8)"]
# Further options can follow the name of the image: `docker run … axio --origin https://play.example.org`.
ENTRYPOINT ["axio", "serve", "--host", "0.0.0.0", "--port", "8000", "--data", "/data", "--no-open", "--log", "info"]
