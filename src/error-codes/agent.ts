import type { Entries } from './entry.ts'

export const agent: Entries = {
  AGENT_STOPPING: {
    summary: 'The agent of a host is about to end, and begins nothing more.',
    meaning: 'Somebody stops or replaces it, or it has just taken everything of hyperkube off the host.',
    remedy: 'Run the same command again: it finds the agent that comes after it, or brings one along.',
  },
  AGENT_WENT_BACK: {
    summary: 'The new agent of a host did not answer, so the host went back to the former one.',
    meaning: 'No component was touched, and the former agent does its work as before.',
    remedy:
      'On the host `journalctl -u hyperkube-agent` says what the new one complained of. Mend that, then run the same command again.',
  },
  AGENT_TOO_NEW: {
    summary: 'The agent of a host is of a release that this one does not understand.',
    meaning:
      'A colleague works with a newer hyperkube. An agent that is newer by at most one minor is understood and left as it is; nothing was done on this host.',
    remedy: 'Use the release that the message names, or one minor before it.',
  },
  HOST_DRIFT: {
    summary: 'Something that hyperkube put on a host is not as it was left. A warning.',
    meaning:
      'Somebody changed it by hand, or another program did. A certificate that is due to be renewed is told in the same way.',
    remedy:
      'The next `hyperkube up` mends it; what should stay belongs into cluster.yml. `hyperkube plan` shows what would be done.',
  },
  HOST_STRAY: {
    summary: 'In a directory of hyperkube lies something that no component has put there. A warning.',
    meaning: '`/etc/hyperkube` and `/opt/hyperkube` are hyperkube’s alone: the next run takes it away.',
    remedy: 'If you need it, move it elsewhere, or have it written by `files` of the host in cluster.yml.',
  },
  APPLY_OTHER_CLUSTER: {
    summary: 'The host belongs to another cluster.',
    meaning: 'Nothing was done. Two clusters on one host would take each other’s files.',
    remedy:
      'Look whether `address` leads to the machine that you mean. If the other cluster is no more, reset the host.',
  },
  APPLY_OTHER_SYSTEM: {
    summary: 'A plan for one system came to a host of another.',
    remedy: 'Mend `os` of the host in cluster.yml, or its `address`.',
  },
  APPLY_OTHER_RELEASE: {
    summary: 'The plan wants another release of hyperkube than the one that runs on the host.',
    meaning: 'The host was changed meanwhile, by somebody with another release.',
    remedy: 'Run the same command again: it brings its own release along first.',
  },
  APPLY_LEDGER_NOT_READ: {
    summary: 'The list of what hyperkube put on the host cannot be read.',
    meaning: 'It is damaged, or was written by a release that is more than one minor newer.',
    remedy:
      'Use that newer release. If the file is damaged, move it away and run the same command again: it looks at everything anew and goes on. What left the plan before is then not taken away.',
  },
  APPLY_WRONG_DIGEST: {
    summary: 'A file was fetched whose digest is not the one of the lock.',
    meaning:
      'It was not unpacked, and nothing on the host was changed. The mirror has other bytes than the source that the lock was made from.',
    remedy:
      '`curl -fsSL URL | sha256sum`, from the mirror and from upstream. If upstream has the digest of the lock, mend the mirror. Otherwise ask why before you make a new lock.',
    symptoms: ['step-failed'],
  },
  APPLY_ARCHIVE_REFUSED: {
    summary: 'An archive has a file in it that would come to lie outside of its directory.',
    meaning: 'Nothing of it was kept. No release of any component has such a file.',
    remedy: '`tar -tzf ARCHIVE` shows what is in it. Ask whoever runs the mirror where it comes from.',
  },
  APPLY_DISK_FULL: {
    summary: 'A disk of the host is full.',
    meaning: 'What was done before is done, and what was being written is not there: files come as a whole.',
    remedy: '`df -h` on the host shows which disk; make room, then run the same command again: it goes on.',
    symptoms: ['step-failed'],
  },
  APPLY_PATH_TAKEN: {
    summary: 'Where a file or a directory of the plan shall be, something else is.',
    remedy: 'Look what it is, and move it away; the hint has the command. Then run the same command again.',
  },
  APPLY_SERVICE_TAKEN: {
    summary: 'A Windows host has a service of the same name as one of the plan, and it is not ours.',
    meaning: 'It was left as it is, and nothing was put in its place.',
    remedy:
      'Find out whose it is. If nobody needs it, take it away by the command of the hint, then run the same command again.',
  },
  APPLY_NO_OWNER: {
    summary: 'A file shall belong to a user that the host does not have.',
    meaning: 'A plan makes its users before its files: somebody has taken this one away in between.',
    remedy: 'Run the same command again. If it comes back, look who manages users on the host.',
  },
  APPLY_NO_SETTING: {
    summary: 'The kernel of the host does not have a setting that the plan sets.',
    meaning: 'The host runs another kernel than when it was looked at, or a module is missing.',
    remedy: 'Run the same command again: it looks at the host anew, and plans from what it finds.',
  },
  APPLY_NO_FIREWALL: {
    summary: 'A plan for Linux has a firewall rule, which only Windows hosts get.',
    remedy: 'Look at `os` of the host in cluster.yml. If it is right, please report it.',
  },
  APPLY_NO_SECRET: {
    summary: 'A secret that a file of the host needs did not come along.',
    meaning: 'Secrets are never in a plan; whoever holds the identity sends them beside it.',
    remedy: 'Run the command where `cluster.identity` and its key are.',
  },
  APPLY_NO_CERTIFICATE: {
    summary: 'A certificate is missing or due, and none came along.',
    meaning: 'A host makes its keys itself and asks for certificates; here nobody has answered yet.',
    remedy: 'Run the same command again: it asks the host what it needs, and has it signed.',
  },
  APPLY_CERTIFICATE_REFUSED: {
    summary: 'A certificate came that does not fit its key, its authority or the plan.',
    meaning: 'It was not installed; the one before it is still in place.',
    remedy:
      'Run the same command again. If the message names times, compare `date -u` on the host and where it was signed.',
  },
  APPLY_NOT_DERIVED: {
    summary: 'A file that the host fills in cannot be made from what a component wrote.',
    meaning: 'The component is of a version that writes something else than this release knows.',
    remedy: 'Look at the file that the message names. Please report it, with the version of the component.',
  },
  APPLY_NOT_VERIFIED: {
    summary: 'Something was just made, and is not so when looked at again.',
    meaning: 'Another program changes it at the same time: configuration management, or a second hyperkube.',
    remedy: 'Find out which one, and take the path of the message out of its hands.',
  },
  APPLY_OP_FAILED: {
    summary: 'Something could not be done on a host.',
    meaning: 'After the colon stands what the system said. What was done before is done.',
    remedy: 'Mend what the system complains of, then run the same command again: it goes on.',
  },
  SERVICE_FAILED: {
    summary: 'A service does not come up.',
    meaning:
      'It ends again and again, or could not be started at all. The message has its state and its last lines; often another program has its port.',
    remedy:
      'Those lines say what it wants; `journalctl -u SERVICE -e` on the host shows more, `ss -ltnp` who has which port. Then run the same command again.',
    symptoms: ['step-failed'],
  },
}
