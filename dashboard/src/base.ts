/** The path of the server: empty, or the path below which an app serves it, such as `/lull`. */
export const base: string = location.pathname.replace(/\/dashboard(?:\/.*)?$/, '')
