import type { ErrorCodeEntries } from './entry.ts'

export const planCodes: ErrorCodeEntries = {
  PLAN_NO_QUORUM: {
    summary: 'Too many control planes or etcd members are unreachable.',
    meaning:
      'More than half of both are needed: etcd for writes, control planes for the operator lock. Three tolerate the loss of one; one or two tolerate none. Nothing was changed.',
    remedy:
      'Bring the hosts from the message back until more than half are reachable, then run `hyperkube up`. If most members are lost, remove them from cluster.yml and run `hyperkube etcd recover`.',
    symptoms: ['no-way'],
  },
  PLAN_ADDRESS_FAMILIES: {
    summary: 'cluster.yml would change a running cluster between IPv4 and dual-stack.',
    meaning:
      'Kubernetes never changes the pod networks of a node. Nodes with one and with two networks could not reach each other. Nothing was changed.',
    remedy:
      'Set `spec.network.pods` and `spec.network.services` as before. To change the address families, create a new cluster and move the workloads.',
  },
  PLAN_FILE_MISSING: {
    summary: 'cluster.yml refers to a file that does not exist beside it.',
    meaning: 'Usually the file was not committed, or the command runs in another directory.',
    remedy: '`git status --ignored` shows whether git ignores it. Put the file beside cluster.yml.',
  },
  PLAN_FLAG_MISSING: {
    summary: 'hyperkube sets a flag that the planned version of the program does not have.',
    meaning:
      'A signed catalog has a minor that this hyperkube release does not know yet. The program would refuse to start. Nothing was changed.',
    remedy:
      'Use a newer hyperkube release, or set `spec.kubernetes` to another version; `hyperkube catalog list` shows them.',
  },
  PLAN_SECRET_MISSING: {
    summary: 'A registry password is not in the identity, or has no user name.',
    meaning: 'Hosts could not pull images from this registry.',
    remedy:
      'Set `username`, and store the password with `hyperkube secret set NAME --from-file FILE`. Or remove `password` from the registry in cluster.yml.',
  },
  PLAN_NOT_READ: {
    summary: 'The file is not a plan.',
    remedy: '`hyperkube plan --out FILE` writes a plan. Pass that file.',
  },
  PLAN_OUTDATED: {
    summary: 'The current changes exceed the given plan.',
    meaning: 'cluster.yml, the hosts or hyperkube have changed since the plan was written.',
    remedy: 'Write a new plan with `hyperkube plan --out FILE`, review it, and pass it.',
  },
  FACTS_NOT_READ: {
    summary: 'hyperkube could not read the recorded facts of hosts.',
    meaning: 'The directory does not exist, or a file in it is damaged or belongs to another release.',
    remedy:
      'Pass a directory with a file `HOST.json` for each host. Record the facts of the host in the message again with `hyperkube facts`.',
  },
  FACTS_DUPLICATE: {
    summary: 'Two files contain facts of the same host.',
    meaning: 'They may differ, and hyperkube cannot tell which one is current.',
    remedy: 'Find the older file with `ls -lt DIRECTORY` and delete it.',
  },
  FACTS_NOT_ROOT: {
    summary: '`hyperkube facts` needs root.',
    meaning:
      'Other users do not see all listening processes and kernel features, and incomplete facts lead to a wrong plan.',
    remedy: 'Run `sudo hyperkube facts` on the host.',
  },
  FACTS_NOT_TAKEN: {
    summary: 'hyperkube could not collect the facts of this machine.',
    meaning:
      'It cannot be a node, or lacks a file that every Linux has, as in a container without `/proc` or `/sys`.',
    remedy: 'Run `hyperkube facts` on a host of the cluster. The message names the missing file.',
  },
}
