/** @returns undefined if the body exceeds the limit. The rest of it is not read. */
export async function readBody(request: Request, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return Buffer.concat(chunks)
    size += value.length
    if (size > limit) {
      // Not awaited, because a sender that keeps sending must not delay the answer.
      reader?.cancel().catch(() => undefined)
      return undefined
    }
    chunks.push(value)
  }
}
