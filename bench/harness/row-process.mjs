/** Runs one row and sends what it found to `run.mjs`. Ends in any case, and with it the subjects it has started. */
const [name, params] = process.argv.slice(2)

try {
  const { run } = await import(`../rows/${name}.mjs`)
  finish({ lines: await run(JSON.parse(params)) })
} catch (error) {
  process.stderr.write(`${error.stack}\n`)
  finish({ error: error.message })
}

function finish(outcome) {
  process.send(outcome, () => process.exit())
}
