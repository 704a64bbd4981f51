/** The configuration of an MCP server: how it is reached, and how its tools are used. */

export interface McpServerOptions {
  /** How long the server may send nothing during a call, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number
  /**
   * Which tools need the user's consent: none (default), all, or those that the server does not
   * declare as read-only.
   */
  readonly approve?: 'never' | 'always' | 'unless-read-only'
}

export interface McpStdioServer extends McpServerOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** Environment variables of the process, in addition to a few safe ones of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface McpHttpServer extends McpServerOptions {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export type McpServer = McpStdioServer | McpHttpServer
