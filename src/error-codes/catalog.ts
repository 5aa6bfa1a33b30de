import type { Entries } from './entry.ts'

export const catalog: Entries = {
  CATALOG_UNKNOWN_VERSION: {
    summary: 'This hyperkube does not know that version of Kubernetes.',
    meaning:
      'hyperkube sets up only versions that have been run together with the etcd and containerd that go with them.',
    remedy:
      'Set `spec.kubernetes` to one of those in the hint. A newer hyperkube knows newer ones: `hyperkube version`.',
  },
  FLAG_REMOVED: {
    summary: 'A flag under `args` no longer exists in this version of the program.',
    meaning:
      'The program would refuse to start. Said now, it costs a line; said by the host, it costs a control plane.',
    remedy: 'Take it out, or use what the hint names. Then `hyperkube validate`.',
  },
  FLAG_UNKNOWN: {
    summary: 'The program of this version has no such flag.',
    meaning:
      'Flags are those that the programs themselves take, also hidden ones. The program would refuse to start; flanneld would even end as if all were well.',
    remedy:
      'Mend its spelling, without leading dashes. A flag of Windows belongs into the `components` of a Windows host. Then `hyperkube validate`.',
  },
  FLAG_VALUE: {
    summary: 'A flag that takes true or false has another value.',
    meaning: 'yes, no, on and off are text in today’s YAML, and the program would refuse to start with them.',
    remedy: 'Write `true` or `false`. Then `hyperkube validate`.',
  },
  FLAG_OWNED: {
    summary: 'A flag under `args` is one that hyperkube sets itself and depends on.',
    meaning: 'Addresses, certificates and paths must agree across hosts; one that differs breaks the others.',
    remedy: 'Take it out, and use the setting of the hint if there is one.',
  },
  FLAG_WEAKENS: {
    summary: 'A flag under `args` has a value that takes away what the cluster’s safety rests on.',
    meaning:
      'The message says what would be lost: authorization, a limit for nodes, or data that etcd has promised to keep.',
    remedy: 'Do what the hint says.',
  },
}
