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
    summary: 'apiserver-proxy cannot listen at its address.',
    meaning: 'Mostly another program has the port, or an older apiserver-proxy has not ended yet.',
    remedy: '`ss -tlnp` shows who has it. The service tries again by itself.',
  },
}
