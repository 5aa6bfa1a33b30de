import type { Entries } from './entry.ts'

export const proxy: Entries = {
  PROXY_CONFIGURATION: {
    summary: 'apiserver-proxy has no configuration that it can read.',
    meaning:
      'It does not begin without one. One that runs goes on with what it read before, and says so in its log.',
    remedy:
      'The agent on the host writes the file: `systemctl status hyperkube-agent`. What is wrong with it is in the message.',
  },
  PROXY_NOT_LISTENING: {
    summary: 'apiserver-proxy or `hyperkube proxy` cannot listen at its address.',
    meaning: 'Mostly another program has the port, or an older proxy has not ended yet.',
    remedy:
      '`ss -tlnp` shows who has it. The service on a node tries again by itself; for `hyperkube proxy`, `--listen` names another address.',
  },
}
