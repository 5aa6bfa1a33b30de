import type { ErrorCodeEntries } from './entry.ts'

export const catalogCodes: ErrorCodeEntries = {
  CATALOG_UNKNOWN_VERSION: {
    summary: 'This hyperkube release does not support that Kubernetes version.',
    meaning: 'hyperkube installs only versions that were tested together with their etcd and containerd.',
    remedy:
      'Set `spec.kubernetes` to a version from the hint. A newer hyperkube release supports newer versions; `hyperkube version` shows yours.',
  },
  FLAG_REMOVED: {
    summary: 'A flag in `args` was removed in this version of the program.',
    meaning: 'The program would refuse to start. hyperkube reports this before it changes a control plane.',
    remedy: 'Remove the flag, or use the replacement from the hint. Then run `hyperkube validate`.',
  },
  FLAG_UNKNOWN: {
    summary: 'This version of the program has no such flag.',
    meaning:
      'hyperkube knows all flags of the programs, also hidden ones. The program would refuse to start; flanneld would exit with success.',
    remedy:
      'Fix its spelling and omit leading dashes. Windows flags belong to `components` of a Windows host. Then run `hyperkube validate`.',
  },
  FLAG_VALUE: {
    summary: 'A boolean flag has another value than true or false.',
    meaning: 'YAML reads yes, no, on and off as text, and the program would refuse to start.',
    remedy: 'Set `true` or `false`. Then run `hyperkube validate`.',
  },
  FLAG_OWNED: {
    summary: 'hyperkube sets this flag in `args` itself and depends on it.',
    meaning: 'Addresses, certificates and paths must match across hosts.',
    remedy: 'Remove the flag. If the hint names a setting, use that setting.',
  },
  FLAG_WEAKENS: {
    summary: 'The value of a flag in `args` disables a protection of the cluster.',
    meaning:
      'The message says what would be lost: authorization, node restriction, or data that etcd has acknowledged.',
    remedy: 'Apply the change from the hint, then run `hyperkube validate`.',
  },
}
