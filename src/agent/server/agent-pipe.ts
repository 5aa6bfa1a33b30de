/** Named pipe over which administrators reach the agent of a Windows host. */
export const agentPipe = String.raw`\\.\pipe\hyperkube-agent`
