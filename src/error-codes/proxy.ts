import type { ErrorCodeEntries } from './entry.ts'

export const proxyCodes: ErrorCodeEntries = {
  PROXY_CONFIGURATION: {
    summary: 'apiserver-proxy has no valid configuration.',
    meaning:
      'It does not start without one. A running proxy keeps its previous configuration and logs this error.',
    remedy:
      'The agent writes the file: check `systemctl status hyperkube-agent` on the host. The message names the error.',
  },
  PROXY_NOT_LISTENING: {
    summary: 'apiserver-proxy or `hyperkube proxy` cannot listen on its address.',
    meaning: 'Usually another program uses the port, or an older proxy has not exited yet.',
    remedy:
      '`ss -tlnp` shows the process. The service on a node retries. For `hyperkube proxy` set another address with `--listen`.',
  },
}
