import type { ProgramFlags } from './program-flags.ts'

/**
 * Flags that programs accept on Windows in addition to those on Linux. The list is written by hand from
 * upstream's sources of 1.36 and 1.37, because the generator cannot run Windows programs.
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
