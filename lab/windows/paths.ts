/** Linux path of the program that simulates Windows. The files of the simulated host are below /C:. */
export const hostProgram = '/usr/local/sbin/windows-host'
export const shellProgram = '/usr/local/sbin/windows-shell'
const runtime = '/run/windows-host'
/** Socket of the simulator. It receives the command lines of ssh sessions, and test commands. */
export const shellSocket = `${runtime}/shell.sock`
/** Socket that replaces the named pipe of the agent. */
export const agentSocket = `${runtime}/agent.sock`

export const baseDirectory = String.raw`C:\hyperkube`
export const loginUser = 'Administrator'
export const loginHome = String.raw`C:\Users\Administrator`
