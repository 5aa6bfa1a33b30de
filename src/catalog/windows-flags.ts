import type { ProgramFlags } from './program-flags.ts'

/**
 * Flags that programs accept on Windows in addition to those on Linux. Windows programs cannot run where the
 * other flags are generated, so this list is written by hand from upstream's Windows sources of 1.36 and
 * 1.37.
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
