import type { Entries } from './entry.ts'

export const ssh: Entries = {
  SSH_HOST_KEY_CHANGED: {
    summary: 'A host shows another ssh key than the one that is pinned for it.',
    meaning:
      'Either the machine was installed anew, or another machine answers at its address. To the second one hyperkube would hand certificates.',
    remedy:
      'On the machine’s own console, not over ssh: `for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf $f; done`. Only if the new fingerprint of the message is among them, forget the old key.',
  },
  SSH_HOST_KEY_NOT_READ: {
    summary: 'What a host shows as its ssh key is none.',
    meaning: 'Something other than an ssh server answers at that address and port.',
    remedy: '`ssh-keyscan -p PORT ADDRESS` shows what answers; mend `address` or `ssh.port` of the host.',
  },
  SSH_HOST_NAME: {
    summary: 'A key would be pinned for something that is not the name of a host.',
    meaning: 'Keys are pinned by the names in cluster.yml, so that a new address alone changes nothing.',
    remedy: 'This is a mistake of ours; please report it with the command that you typed.',
  },
}
