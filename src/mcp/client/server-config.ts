/** How an MCP server is reached, and how its tools are used. */

export interface McpServerOptions {
  /** The longest time without a sign of life during a call. Default 60,000. */
  readonly timeoutMs?: number
  /** Which tools need the consent of the user: none (default), all, or those that the server does not call read-only. */
  readonly approve?: 'never' | 'always' | 'unless-read-only'
}

export interface McpStdioServer extends McpServerOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** Added to a few safe variables of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface McpHttpServer extends McpServerOptions {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export type McpServer = McpStdioServer | McpHttpServer
