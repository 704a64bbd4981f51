// Next calls it when the server starts. Without it, tasks would go on only after the first request to a route of Lull.
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { lull } = await import('./lull.js')
  await lull.engine
}
