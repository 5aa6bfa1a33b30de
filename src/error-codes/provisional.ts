import type { Entries } from './entry.ts'

export const trial: Entries = {
  TRIAL_FIRST: {
    summary: 'There is nothing to go back to: a whole plan was never carried out.',
    meaning:
      'A trial goes back to what a host was before. Hosts that are set up for the first time, or whose first `up` was cut, were nothing before. Nothing was done.',
    remedy: '`hyperkube up` without `--trial`.',
  },
  TRIAL_HOSTS: {
    summary: 'Hosts would join or leave, and that is not tried.',
    meaning:
      'Others learn of a host that comes, and what was on one that leaves is gone: no agent could take that back with nobody near. Nothing was done.',
    remedy: '`hyperkube up` without `--trial` first; then change the settings, and try those.',
  },
  TRIAL_COMPONENTS: {
    summary: 'A component would come or go, and that is not tried.',
    meaning: 'Its keys and certificates come and go with it, and nobody would be near to make them anew.',
    remedy: '`hyperkube up` without `--trial`. The way back is to change cluster.yml back, and `up` again.',
  },
  TRIAL_PROGRAMS: {
    summary: 'Programs or images would change, and that is not tried.',
    meaning:
      'What a newer version has stored an older one may not be able to read, and a former program may be gone from the host. A new release of hyperkube itself, and what has drifted on a host, count as well. Nothing was done.',
    remedy:
      'Versions: `hyperkube upgrade`, which goes back by itself where a host does not come up. Anything else: `hyperkube up` without `--trial` first, then try the rest.',
  },
  TRIAL_SECRETS: {
    summary: 'Keys, or files with secrets, would change, and that is not tried.',
    meaning:
      'Secrets come from whoever has the identity, and are remembered by nobody else: a host alone could not put the former ones back. Nothing was done.',
    remedy:
      '`hyperkube up` without `--trial` first, or `hyperkube certs rotate-ca` and `rotate-key`; then try the rest.',
  },
  TRIAL_INSIDE: {
    summary: 'Something inside the cluster would change, where hosts cannot take it back.',
    meaning:
      'Addons, labels and taints of nodes, and the rights of our programs are changed through the API, by whoever runs `up`. Nothing was done.',
    remedy: '`hyperkube up` without `--trial` first; then change the settings, and try those.',
  },
  TRIAL_UNDER_WAY: {
    summary: 'A change is on trial, and hosts go back from it when its time is over.',
    meaning:
      'As a warning: so that you know. As an error: nothing else is done meanwhile, because a host that goes back would take a part of it along. Nothing was done.',
    remedy:
      '`hyperkube trial keep` when it is good; `hyperkube trial back`, and a look at `hyperkube status` some minutes later, when it is not. The very same `hyperkube up --trial` goes on with one that was cut.',
  },
  TRIAL_GOES_BACK: {
    summary: 'The host goes back from a trial at this very moment.',
    meaning: 'It cannot be kept any more, and nothing else is tried before that has ended.',
    remedy:
      'Wait until `hyperkube status` says that it went back. If it never does, `journalctl -u hyperkube-agent` on the host says what stands in the way.',
  },
  TRIAL_OTHER: {
    summary: 'Something else is on trial on the host.',
    meaning: 'It was begun meanwhile, or with another cluster.yml.',
    remedy: '`hyperkube trial keep` keeps it, `hyperkube trial back` goes back from it.',
  },
  TRIAL_OVER: {
    summary: 'It is not on trial any more: its time is over, and hosts went back.',
    meaning: 'cluster.yml still says what was tried; the hosts are what they were before it.',
    remedy:
      '`hyperkube plan` shows what differs. `hyperkube up --trial` with more time tries it again; otherwise change cluster.yml back.',
  },
}
