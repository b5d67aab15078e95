/** Where the host's own program is, for those who start one. */

/** The package that brings the host and its launcher. */
export const hostPackage = '@deepseek-ai/dsh'

/** The launcher's program, relative to that package's folder. */
export const launcherPath = 'lib/bin.js'
