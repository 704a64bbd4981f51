/** Error text for a file of the package that is not beside its code. */
export const BUNDLED =
  'a file of the package lull is missing beside its code, because a bundler has moved the code; name lull as an external package (esbuild: --external:lull, Next: serverExternalPackages: ["lull"])'
