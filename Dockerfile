# npm run build && docker build -t lull .
# docker run -p 8787:8787 -v lull:/data lull
# Agents of one file: -v ./agents.js:/app/agents.js, and after the name of the image: serve ./agents.js
FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund
COPY LICENSE README.md ./
COPY dist ./dist
COPY docs ./docs
COPY templates ./templates
RUN mkdir /data && chown node:node /data
USER node
ENV NODE_ENV=production HOST=0.0.0.0 LULL_DATA=/data LULL_AUTH=keys LULL_PUBLIC_URL=http://localhost:8787
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 8787}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve", "--demo"]
