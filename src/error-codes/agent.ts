import type { ErrorCodeEntries } from './entry.ts'

export const agentCodes: ErrorCodeEntries = {
  AGENT_STOPPING: {
    summary: 'The agent of a host is stopping and accepts no new run.',
    meaning: 'The agent is being replaced, or has just removed hyperkube from the host.',
    remedy: 'Run the same command again. It finds or installs the next agent.',
  },
  AGENT_ROLLED_BACK: {
    summary: 'The new agent of a host did not respond, so the host rolled back to the previous agent.',
    meaning: 'No component was changed, and the previous agent works as before.',
    remedy:
      '`journalctl -u hyperkube-agent` on the host shows the error of the new agent. Fix it, then run the same command again.',
  },
  AGENT_TOO_NEW: {
    summary: 'The agent of a host belongs to a newer release that this hyperkube does not support.',
    meaning:
      'Another operator uses a newer release. An agent may be newer by at most one minor release. Nothing was changed on this host.',
    remedy: 'Use the release from the message, or one minor release before it.',
  },
  HOST_DRIFT: {
    summary: 'A resource on a host differs from the applied plan. This is a warning.',
    meaning:
      'A person or another program changed it. A certificate that is due for renewal is reported the same way.',
    remedy:
      '`hyperkube plan` shows the difference, and `hyperkube up` repairs it. Put permanent changes into cluster.yml.',
  },
  HOST_ORPHAN: {
    summary: 'A directory of hyperkube contains a file that no component owns. This is a warning.',
    meaning: 'hyperkube owns `/etc/hyperkube` and `/opt/hyperkube`, and the next run deletes the file.',
    remedy: 'If you need the file, move it, or add it to `files` of the host in cluster.yml.',
  },
  APPLY_OTHER_CLUSTER: {
    summary: 'The host belongs to another cluster.',
    meaning: 'Nothing was changed. Two clusters on one host would overwrite the files of each other.',
    remedy:
      'Check that `address` belongs to the right machine. If the other cluster no longer exists, reset the host with the cluster.yml of that cluster: `hyperkube reset --limit HOST`.',
  },
  APPLY_OTHER_SYSTEM: {
    summary: 'The plan of a host is for another operating system.',
    remedy: 'Fix `os` or `address` of the host in cluster.yml.',
  },
  APPLY_OTHER_RELEASE: {
    summary: 'The plan needs another hyperkube release than the one on the host.',
    meaning: 'Another operator changed the host with another release during this run.',
    remedy: 'Run the same command again; it first installs its own release.',
  },
  APPLY_LEDGER_NOT_READ: {
    summary: 'The agent cannot read the ledger, the list of resources that hyperkube manages on the host.',
    meaning: 'The ledger is damaged, or a release that is more than one minor newer wrote it.',
    remedy:
      'Use that newer release. If the ledger is damaged, move it away and run the same command again. Resources that left the plan earlier are then not deleted.',
  },
  APPLY_WRONG_DIGEST: {
    summary: 'A downloaded file does not match its digest in cluster.lock.',
    meaning:
      'The host did not unpack it and is unchanged. The mirror has other bytes than the source of the lock.',
    remedy:
      'Compare `curl -fsSL URL | sha256sum` for the mirror and upstream. If upstream matches the lock, fix the mirror. Otherwise find out why before you run `hyperkube lock`.',
    symptoms: ['step-failed'],
  },
  APPLY_ARCHIVE_REFUSED: {
    summary: 'An archive contains a path outside its own directory.',
    meaning: 'The host kept nothing of it. No upstream release contains such a path.',
    remedy: '`tar -tzf ARCHIVE` lists its files. Ask the owner of the mirror for its source.',
  },
  APPLY_DISK_FULL: {
    summary: 'A disk of the host is full.',
    meaning:
      'Earlier operations are complete. The file that was being written does not exist, because files are written atomically.',
    remedy: '`df -h` on the host shows the disk. Free space, then run the same command again; it resumes.',
    symptoms: ['step-failed'],
  },
  APPLY_PATH_TAKEN: {
    summary: 'Another kind of file exists at a path of the plan.',
    remedy:
      'Check the file and move it away with the command from the hint. Then run the same command again.',
  },
  APPLY_FOREIGN_OWNER: {
    summary: 'A directory that Windows services need belongs to another user, or contains files of one.',
    meaning:
      'Services of hyperkube run as SYSTEM. The owner could change what they execute, so the directory is not used. Trusted owners are SYSTEM, Administrators and TrustedInstaller.',
    remedy:
      'Find out who created it. Rename it with the command from the hint, and run the same command again; hyperkube creates a new directory. If an administrator has changed the owner of a directory that hyperkube already uses, restore it: `icacls DIRECTORY /setowner *S-1-5-32-544 /t`.',
  },
  APPLY_SERVICE_TAKEN: {
    summary: 'A Windows host has a foreign service with the name of a planned one.',
    meaning: 'The foreign service is unchanged, and the planned one was not created.',
    remedy:
      'Find its owner. If it is not needed, remove it with the command from the hint. Then run the same command again.',
  },
  APPLY_NO_OWNER: {
    summary: 'The owner of a planned file is not a user of the host.',
    meaning: 'hyperkube creates users before files, so another program deleted the user in between.',
    remedy: 'Run the same command again. If it fails again, check which program manages users on the host.',
  },
  APPLY_NO_SETTING: {
    summary: 'The kernel of the host lacks a planned setting.',
    meaning: 'The host booted another kernel after its facts were collected, or a module is missing.',
    remedy: 'Run the same command again; it collects facts and plans again.',
  },
  APPLY_NO_FIREWALL: {
    summary: 'The plan of a Linux host contains a firewall rule, which only Windows hosts support.',
    remedy: 'Check `os` of the host in cluster.yml. If it is correct, please report this.',
  },
  APPLY_NO_SECRET: {
    summary: 'A secret that a file of the host needs was not sent.',
    meaning: 'Plans contain no secrets. The operator with the identity sends them separately.',
    remedy: 'Run the same command where `cluster.identity` and its key are.',
  },
  APPLY_NO_CERTIFICATE: {
    summary: 'A certificate is missing or due for renewal, and no new one was sent.',
    meaning: 'A host creates its keys and requests certificates. No response has arrived yet.',
    remedy: 'Run the same command again; it signs the request of the host.',
  },
  APPLY_CERTIFICATE_REFUSED: {
    summary: 'A certificate does not match its key, its CA or the plan.',
    meaning: 'The host did not install it. The previous certificate is still in place.',
    remedy:
      'Run the same command again. If the message names times, compare `date -u` on the host and on the signing machine.',
  },
  APPLY_NOT_DERIVED: {
    summary: 'A file could not be generated from the output of a component.',
    meaning: 'The version of the component writes a format that this release does not know.',
    remedy: 'Check the file from the message. Please report it with the version of the component.',
  },
  APPLY_NOT_VERIFIED: {
    summary: 'A resource changed again right after hyperkube had applied it.',
    meaning: 'Another program changes it at the same time: configuration management, or a second hyperkube.',
    remedy: 'Find that program and exclude the path from the message there.',
  },
  APPLY_OP_FAILED: {
    summary: 'An operation on a host failed.',
    meaning: 'The error of the system follows the colon. Earlier operations are complete.',
    remedy: 'Fix the error, then run the same command again; it resumes.',
  },
  SERVICE_FAILED: {
    summary: 'A service does not start.',
    meaning:
      'It exits repeatedly, or could not start at all. The message holds its state and last log lines. Often another program uses its port.',
    remedy:
      'Read the log lines. `journalctl -u SERVICE -e` on the host shows more, and `ss -ltnp` the used ports. Then run the same command again.',
    symptoms: ['step-failed'],
  },
}

export const claimCodes: ErrorCodeEntries = {
  CLAIM_HELD: {
    summary: 'Another operator holds the operator lock and is changing the cluster.',
    meaning: 'Two operators at once would undo the changes of each other. Nothing was changed.',
    remedy:
      'Wait until the other run ends. A lock expires a minute after its operator is gone. `--force-unlock` takes it at once, and hosts then refuse requests of the other run.',
    symptoms: ['two-at-once'],
  },
  CLAIM_LOST: {
    summary: 'Another operator took the operator lock during this run.',
    meaning: 'The other operator used force, or this run could not renew the lock for a minute.',
    remedy:
      'Ask the other operator, check the changes with `hyperkube plan`, then run the same command again.',
    symptoms: ['two-at-once'],
  },
  AGENT_NO_SUCH_RUN: {
    summary: 'The agent of a host does not know the requested run.',
    meaning: 'The run never reached the host, or its record was deleted because it is too old.',
    remedy: 'Run the same command again; completed operations are not repeated.',
  },
  AGENT_LINE_TOO_LONG: {
    summary: 'The agent of a host received a message that exceeds the size limit.',
    meaning: 'Usually another program than hyperkube connects to the agent.',
    remedy:
      'Compare `hyperkube version` here and on the host. If they are at most one minor release apart, please report this.',
  },
}
