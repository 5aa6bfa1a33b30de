import type { ErrorCodeEntries } from './entry.ts'

export const healCodes: ErrorCodeEntries = {
  HEAL_EXHAUSTED: {
    summary: 'The agent of a host has used all healing steps, and a component is still unhealthy.',
    meaning:
      'It restarted the component, repaired its files and saved its logs. It retries every hour, and at once after a new plan.',
    remedy:
      '`hyperkube logs COMPONENT --limit HOST` shows the cause. Fix it, usually in `components` of cluster.yml, then run `hyperkube up`.',
    symptoms: ['healing', 'node-not-ready'],
  },
  HEAL_BUDGET_SPENT: {
    summary: 'The agent of a host has reached its limit of healing actions.',
    meaning: 'A limit for all components of a host keeps healing from causing an outage itself.',
    remedy: 'Wait ten minutes. `hyperkube status` lists the actions; the first one usually shows the cause.',
    symptoms: ['healing'],
  },
  HEAL_NEEDS_OPERATOR: {
    summary: 'A component needs a secret or a certificate that only an operator can provide.',
    meaning:
      'Hosts store no copies of secrets, and your keys sign certificates. An agent cannot restore either.',
    remedy: 'Run `hyperkube up --limit HOST`. For an expired certificate run `hyperkube certs renew HOST`.',
    symptoms: ['healing', 'certificates'],
  },
  HEAL_PAUSED: {
    summary: 'An operator paused healing on a host. This is a warning.',
    meaning: 'The pause ends on its own, after a day at the latest.',
    remedy: 'Run `hyperkube heal resume HOST` when the work is done.',
    symptoms: ['healing'],
  },
  ETCD_DATA_LOST: {
    summary: 'The data of an initialized etcd member is missing.',
    meaning:
      'The agent does not start it with empty data, because it could vote against its earlier votes and lose writes. The other members continue while they have a quorum.',
    remedy:
      'Find out where the data went. If the other members have a quorum, run `hyperkube etcd rejoin HOST`. Otherwise run `hyperkube etcd recover`.',
    symptoms: ['etcd'],
  },
  ETCD_DATA_DAMAGED: {
    summary: 'An etcd member cannot read its data.',
    meaning:
      'Its log says so. The agent neither restarts it nor deletes anything, because the data may still be needed.',
    remedy: 'Check the disk first. Then run `hyperkube etcd rejoin HOST`.',
    symptoms: ['etcd', 'disk'],
  },
}
