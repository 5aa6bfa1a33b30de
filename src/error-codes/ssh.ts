import type { Entries } from './entry.ts'

export const ssh: Entries = {
  SSH_HOST_KEY_CHANGED: {
    summary: 'A host shows another ssh key than the one that is pinned for it.',
    meaning:
      'Either the machine was installed anew, or another machine answers at its address. To the second one hyperkube would hand certificates.',
    remedy:
      'On the machine’s own console, not over ssh: `for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf $f; done`. Only if the new fingerprint of the message is among them, run the same command with `--forget-host-key HOST`.',
    symptoms: ['no-way'],
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
  SSH_UNREACHABLE: {
    summary: 'No ssh could be spoken with a host, or with a bastion on the way to it.',
    meaning:
      'The message says which of these it was: the connection was refused, nothing came back, there is no route, the name is not known, what answers is not ssh, or it hung up before the login.',
    remedy: 'Type the command of the hint. `ssh -v USER@ADDRESS true` shows how far ssh itself gets.',
    symptoms: ['no-way'],
  },
  SSH_KEX: {
    summary: 'A host speaks ssh, but only with algorithms that hyperkube’s own ssh does not have.',
    meaning:
      'So it is with an sshd that takes nothing but key exchanges against quantum computers, or only outdated ones.',
    remedy:
      'Set `ssh.client` to `system`, which uses the ssh program of this machine; or let sshd take `curve25519-sha256` too: `sshd -T | grep kexalgorithms` on the host shows what it takes.',
  },
  SSH_LOST: {
    summary: 'The connection to a host ended in the middle of something.',
    meaning:
      'The network was cut, or the host went down. Whether what ran there has ended is not known; an agent goes on with its run.',
    remedy: 'Run the same command again: it goes on where it is.',
  },
  SSH_DIAL_REFUSED: {
    summary: 'A host could not connect to an address for us.',
    meaning:
      'etcd and the API are asked through the ssh connection of their host. Mostly nothing listens there yet, or what should has ended; the message has the host’s own words.',
    remedy: '`ss -Htlnp` on the host shows who listens; `journalctl -u SERVICE` why somebody does not.',
  },
  SSH_FORWARD_FORBIDDEN: {
    summary: 'sshd on a host makes no connections for those who are logged in.',
    meaning:
      'etcd and the API are asked through the ssh connection of their host, so that nothing but ssh has to be open between you and it. Its sshd forbids that.',
    remedy:
      '`sshd -T | grep -iE "allowtcpforwarding|disableforwarding|permitopen"` on the host; set `AllowTcpForwarding yes` in its sshd_config, or `local`, and reload it. A key with `restrict` or `no-port-forwarding` in authorized_keys forbids it too.',
  },
  SSH_SESSION_REFUSED: {
    summary: 'A host that we are logged in to starts no further program for us.',
    meaning: 'Mostly `MaxSessions` of its sshd is very small, or the login is bound to one command.',
    remedy: '`sshd -T | grep -i maxsessions` on the host; 10 is what sshd has by itself, and enough.',
  },
  SSH_NO_KEY_ACCEPTED: {
    summary: 'A host takes none of the keys that we have for this user.',
    meaning:
      'The message lists the keys that were offered, by file and fingerprint, and what the host takes besides. Passwords are never asked for.',
    remedy:
      '`ssh-copy-id -i KEY USER@ADDRESS` puts a key there; which key is offered is said by `ssh.key`, and which user by `ssh.user`.',
    symptoms: ['no-way'],
  },
  SSH_KEY_ENCRYPTED: {
    summary: 'The key for a host wants a passphrase, and the ssh agent does not hold it.',
    meaning: 'A passphrase is for the agent to ask for: it asks once, and not for every host.',
    remedy: '`ssh-add FILE`, then the same command. Without an agent, first `eval "$(ssh-agent)"`.',
  },
  SSH_KEY_NOT_READ: {
    summary: 'The file that `ssh.key` names is not there, or is no private key that hyperkube can read.',
    meaning: 'A path that is not absolute begins in the directory of cluster.yml.',
    remedy:
      '`ssh-keygen -l -f FILE` says what it is. Keys of hardware tokens are for `ssh.client` set to `system`.',
  },
  SSH_CONFIG_NOT_READ: {
    summary: 'Your `~/.ssh/config` cannot be read, or leads in a circle.',
    remedy: '`ssh -G ADDRESS` shows what ssh makes of it for a host, and where it stumbles.',
  },
  SSH_CONFIG_SETTING: {
    summary: 'Your `~/.ssh/config` wants something for a host that only the ssh program can do.',
    meaning: 'That is `ProxyCommand`. Without it the host would most likely just not answer.',
    remedy:
      'Set `ssh.client` to `system`, which uses the ssh program of this machine; or name a bastion in `ssh.bastion`.',
  },
  SSH_NO_ADMINISTRATOR: {
    summary: 'Who logs in to a Windows host is no administrator of it.',
    meaning:
      'Services and networks of Windows are made by administrators alone, and there is no sudo to become one.',
    remedy:
      'Set `ssh.user` to a member of the group Administrators. Its key belongs into `C:\\ProgramData\\ssh\\administrators_authorized_keys`, which only administrators and the system may have access to.',
    symptoms: ['no-way'],
  },
  SFTP_NOT_SPOKEN: {
    summary: 'The sshd of a Windows host has no sftp server that answers.',
    meaning: 'Files are brought to Windows hosts by sftp.',
    remedy:
      'Its `C:\\ProgramData\\ssh\\sshd_config` has to have the line `Subsystem sftp sftp-server.exe`, as it comes with OpenSSH; then `Restart-Service sshd` there.',
    symptoms: ['no-way'],
  },
  HOST_CALL_FAILED: {
    summary: 'hyperkube on a Windows host did not answer as it should.',
    meaning:
      'The program is started by the shell of the host’s sshd, which has to be cmd.exe or PowerShell. Something else stands in between, or the program cannot run.',
    remedy:
      'Log in with ssh: nothing may be said before anything is typed. `Get-ItemProperty HKLM:\\SOFTWARE\\OpenSSH` shows which shell it is. Then the same command again.',
    symptoms: ['no-way'],
  },
  SSH_NO_SUDO: {
    summary: 'The user of a host is not root, and cannot become root.',
    meaning: 'There is no sudo, or it does not let this user do everything. A cluster is made as root.',
    remedy: 'Type the command of the hint as root on the host, or set `ssh.user` to `root`.',
    symptoms: ['no-way'],
  },
  SSH_SUDO_PASSWORD: {
    summary: 'sudo on a host asks for a password.',
    meaning:
      'Nobody is there to type it on every host. sudo asks also those who have no rights at all, so it may be that.',
    remedy: 'Type the command of the hint as root on the host, or set `ssh.user` to `root`.',
    symptoms: ['no-way'],
  },
  SSH_OUTPUT_TOO_LONG: {
    summary: 'A program on a host wrote more than any answer can be, and was ended.',
    remedy: 'Type the command of the message on the host: something makes it talk without end.',
  },
  UPLOAD_NO_ROOM: {
    summary: 'A file does not fit on the disk of a host.',
    meaning: 'What was there is as it was; what had arrived of the new file was taken away.',
    remedy: '`df -h DIRECTORY` on the host; make room, then the same command.',
  },
  UPLOAD_FAILED: {
    summary: 'A host could not write a file that was sent to it.',
    meaning: 'Its own words are in the message. What was there is as it was.',
    remedy: 'Mend what the words say, then the same command.',
  },
  UPLOAD_NOT_WHOLE: {
    summary: 'A file was not put in its place, because it is not the one that is meant.',
    meaning:
      'Its digest is another one, or it changed while it was read. What was there is as it was, and nothing is left beside it.',
    remedy: 'Run the same command again; if it stays so, fetch the file anew.',
  },
  UPLOAD_SOURCE_NOT_READ: {
    summary: 'A file that shall be sent to a host is not there, or is no file.',
    remedy: '`ls -l FILE` on this machine.',
  },
}
