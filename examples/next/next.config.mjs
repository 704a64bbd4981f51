// The package reads files of its own, so the bundler must leave it alone.
export default { serverExternalPackages: ['lull'] }
