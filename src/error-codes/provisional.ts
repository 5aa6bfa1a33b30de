import type { ErrorCodeEntries } from './entry.ts'

export const provisionalCodes: ErrorCodeEntries = {
  PROVISIONAL_NO_PREVIOUS_PLAN: {
    summary: 'A provisional change needs a previous plan, and this host has none.',
    meaning:
      'The host was never configured completely, so it has no state to roll back to. Nothing was changed.',
    remedy: 'Run `hyperkube up` without `--provisional`.',
  },
  PROVISIONAL_HOSTS: {
    summary: 'A provisional change cannot add or remove hosts.',
    meaning: 'Agents cannot roll back such a change without an operator. Nothing was changed.',
    remedy:
      'Run `hyperkube up` without `--provisional` first. Then change the other settings with `hyperkube up --provisional`.',
  },
  PROVISIONAL_COMPONENTS: {
    summary: 'A provisional change cannot add or remove components.',
    meaning:
      'Keys and certificates are created and deleted with a component, and agents cannot restore them without an operator.',
    remedy:
      'Run `hyperkube up` without `--provisional`. To undo it, restore cluster.yml and run `hyperkube up` again.',
  },
  PROVISIONAL_PROGRAMS: {
    summary: 'A provisional change cannot change programs or images.',
    meaning:
      'An older version may not read the data of a newer one, and its program may be deleted. A new hyperkube release and drift count too. Nothing was changed.',
    remedy:
      'Change versions with `hyperkube upgrade`, which rolls back failing hosts. For anything else run `hyperkube up` without `--provisional` first.',
  },
  PROVISIONAL_SECRETS: {
    summary: 'A provisional change cannot change keys or files with secrets.',
    meaning:
      'Only the operator with the identity has the secrets, so a host cannot restore the previous ones alone. Nothing was changed.',
    remedy:
      'Run `hyperkube up` without `--provisional`, `hyperkube certs rotate-ca` or `hyperkube certs rotate-key` first. Then apply the rest with `hyperkube up --provisional`.',
  },
  PROVISIONAL_CLUSTER_OBJECTS: {
    summary: 'A provisional change cannot change cluster objects.',
    meaning:
      'hyperkube changes addons, node labels, taints and RBAC rules through the API, and hosts cannot roll them back. Nothing was changed.',
    remedy:
      'Run `hyperkube up` without `--provisional` first. Then change the other settings with `hyperkube up --provisional`.',
  },
  PROVISIONAL_PENDING: {
    summary: 'A provisional change is active, and hosts will roll back at its deadline.',
    meaning:
      'As an error, hyperkube refuses other changes until then, because a rollback would undo a part of them. Nothing was changed.',
    remedy:
      'Run `hyperkube provisional confirm` to keep the change. To undo it, run `hyperkube provisional rollback` and check `hyperkube status` some minutes later. The same `hyperkube up --provisional` resumes an interrupted one.',
  },
  PROVISIONAL_ROLLING_BACK: {
    summary: 'The host is rolling back a provisional change.',
    meaning:
      'The change can no longer be confirmed, and no other one can begin before the rollback has ended.',
    remedy:
      'Wait until `hyperkube status` reports the rollback. If it does not, check `journalctl -u hyperkube-agent` on the host.',
  },
  PROVISIONAL_CONFLICT: {
    summary: 'Another provisional change is active on the host.',
    meaning: 'It was started in the meantime, or with another cluster.yml.',
    remedy: '`hyperkube provisional confirm` keeps it, `hyperkube provisional rollback` undoes it.',
  },
  PROVISIONAL_UNKNOWN: {
    summary: 'A provisional change may be pending on hosts that cannot be reached.',
    meaning: 'No reachable host has one. An unreachable host rolls back by itself after the deadline.',
    remedy:
      'Connect to the hosts, then run the command again. `hyperkube status` shows which hosts are provisional.',
  },
  PROVISIONAL_ENDED: {
    summary: 'The provisional change has ended: its deadline has passed, and hosts rolled back.',
    meaning: 'cluster.yml still contains the change; the hosts have their previous state.',
    remedy:
      '`hyperkube plan` shows the difference. Apply it again with `hyperkube up --provisional` and a longer time, or restore cluster.yml.',
  },
}
