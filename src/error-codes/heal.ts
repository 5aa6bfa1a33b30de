import type { Entries } from './entry.ts'

export const heal: Entries = {
  HEAL_GAVE_UP: {
    summary: 'The agent of a host has tried all it knows, and a component is still not well.',
    meaning:
      'It restarted it, put back its files, and kept its logs. It tries once more every hour, and at once when there is a new plan.',
    remedy:
      '`hyperkube logs COMPONENT --limit HOST` says why it does not come up. Mend that, mostly `components` in cluster.yml, then `hyperkube up`.',
    symptoms: ['healing', 'node-not-ready'],
  },
  HEAL_BUDGET_SPENT: {
    summary: 'The agent of a host has disturbed it as often as it may for now.',
    meaning:
      'So that healing never becomes a storm of its own, there is a limit for all components of a host together.',
    remedy:
      'Wait ten minutes. `hyperkube status` shows what was done; the first of it is most likely the cause.',
    symptoms: ['healing'],
  },
  HEAL_NEEDS_OPERATOR: {
    summary: 'Something of a component is missing or changed that only an operator can bring.',
    meaning:
      'Secrets are never kept on a host beside their place, and certificates are signed with keys that you have. An agent cannot put them back.',
    remedy: '`hyperkube up --limit HOST`; for a certificate that has expired `hyperkube certs renew HOST`.',
    symptoms: ['healing', 'certificates'],
  },
  HEAL_PAUSED: {
    summary: 'Nothing is healed on a host for a while, because somebody said so. A warning.',
    meaning: 'A person works there. It ends by itself, after a day at the latest.',
    remedy: '`hyperkube heal resume HOST` when the work is done.',
    symptoms: ['healing'],
  },
  ETCD_DATA_LOST: {
    summary: 'A member of etcd has been a member, and its data is gone.',
    meaning:
      'The agent does not start it empty: it would vote without knowing what it has voted before, and could lose what others count on. The others go on as long as more than half of all are well.',
    remedy:
      'Find out where the data went. With a quorum among the others: `hyperkube etcd rejoin HOST`. Without one: `hyperkube etcd recover`.',
    symptoms: ['etcd'],
  },
  ETCD_DATA_DAMAGED: {
    summary: 'A member of etcd cannot read its data.',
    meaning:
      'Its log says so. The agent neither starts it again nor removes anything: what is there may still be wanted.',
    remedy: 'Look at the disk first. Then the member joins anew: `hyperkube etcd rejoin HOST`.',
    symptoms: ['etcd', 'disk'],
  },
}
