import type { Entries } from './entry.ts'

export const plan: Entries = {
  PLAN_NO_QUORUM: {
    summary: 'Too many control planes, or members of etcd, do not answer.',
    meaning:
      'Of the members of etcd more than half must be well, or it takes no writes; of the control planes more than half must agree on who may change the cluster. Of three one may be away, of one or two none. Nothing was done.',
    remedy:
      'Bring the hosts of the message back (`ping`, their consoles), one by one until more than half answer; then `hyperkube up`. Only if most members of etcd are lost for good: take them out of cluster.yml, then `hyperkube etcd recover`.',
    symptoms: ['no-way'],
  },
  PLAN_FILE_MISSING: {
    summary: 'cluster.yml names a file that is not beside it.',
    meaning: 'Mostly it was never committed, or the command runs in another directory.',
    remedy: '`git status --ignored` shows whether it was left out; put it beside cluster.yml.',
  },
  PLAN_SECRET_MISSING: {
    summary: 'A registry’s password is not in the identity, or has no username beside it.',
    meaning: 'Hosts could not pull images from there.',
    remedy:
      'Add `username`, put the secret into the identity, or take `password` out of the registry in cluster.yml.',
  },
  PLAN_NOT_READ: {
    summary: 'The file does not hold a plan.',
    remedy: '`hyperkube plan --out FILE` writes one; name that.',
  },
  PLAN_OUTDATED: {
    summary: 'More would be done than the plan that was handed over says.',
    meaning: 'cluster.yml, the hosts, or hyperkube itself have changed since it was written.',
    remedy: 'Write it anew with `hyperkube plan --out FILE`, read it, and hand that over.',
  },
  FACTS_NOT_READ: {
    summary: 'The recorded facts of hosts could not be read.',
    meaning: 'The directory is not there, or a file in it is damaged, or of another release.',
    remedy:
      'Name a directory with a file `HOST.json` for each host; record the facts of the host in the message again.',
  },
  FACTS_TWICE: {
    summary: 'Two files hold the facts of one host.',
    meaning: 'They may differ, and which of them is true cannot be told.',
    remedy: 'Remove the older one: `ls -lt DIRECTORY`.',
  },
  FACTS_NOT_ROOT: {
    summary: 'Facts of a host were to be taken by somebody else than root.',
    meaning:
      'Others do not see who listens on a port, nor what the kernel can do; half the truth plans a cluster wrongly.',
    remedy: '`sudo hyperkube facts` on the host.',
  },
  FACTS_NOT_TAKEN: {
    summary: 'The facts of this machine could not be taken.',
    meaning:
      'It is of a kind that no node can be, or lacks a file that every Linux has, as in a container without `/proc` or `/sys`.',
    remedy: 'Run `hyperkube facts` on a host of the cluster itself; the message names what is missing.',
  },
}
