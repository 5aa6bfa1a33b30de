/** Named pipe of the agent on a Windows host. Only administrators can connect. */
export const agentPipe = String.raw`\\.\pipe\hyperkube-agent`
