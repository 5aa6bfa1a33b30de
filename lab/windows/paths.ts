/** Where a simulated Windows host has what is not of Windows: all else of it is below /C:. */
export const program = '/usr/local/sbin/windows-host'
export const shell = '/usr/local/sbin/windows-shell'
const runtime = '/run/windows-host'
/** Where lines of logins are answered. */
export const shellSocket = `${runtime}/shell.sock`
/** What the pipe of the agent is on Windows. */
export const agentSocket = `${runtime}/agent.sock`

export const base = String.raw`C:\hyperkube`
export const user = 'Administrator'
export const home = String.raw`C:\Users\Administrator`
