import type { ProgramFlags } from './program-flags.ts'

/**
 * What programs take on Windows besides what they take on Linux. Programs for Windows cannot be asked where the others
 * are, so this is written by hand, after upstream's files for Windows of 1.36 and 1.37.
 */
export const windowsFlags: ProgramFlags = {
  kubelet: { 'windows-priorityclass': 'value', 'windows-service': 'boolean' },
  'kube-proxy': {
    'enable-dsr': 'boolean',
    'forward-healthcheck-vip': 'boolean',
    'network-name': 'value',
    'root-hnsendpoint-name': 'value',
    'source-vip': 'value',
    'windows-service': 'boolean',
  },
}
