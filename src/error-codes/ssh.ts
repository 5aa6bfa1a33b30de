import type { ErrorCodeEntries } from './entry.ts'

export const sshCodes: ErrorCodeEntries = {
  SSH_HOST_KEY_UNKNOWN: {
    summary: 'hyperkube does not know the ssh key of a host.',
    meaning:
      'Neither `ssh.hostKey`, cluster.identity nor your known_hosts has it. hyperkube would give certificates and keys to that machine.',
    remedy:
      'Run `for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf $f; done` on the console of the machine, not over ssh. If the fingerprint is listed, run `hyperkube plan` and accept it. Scripts need `--accept-new-host-keys`, `ssh.hostKey` or a known_hosts file; `--yes` does not accept keys.',
    symptoms: ['no-way'],
  },
  SSH_HOST_KEY_REVOKED: {
    summary: 'A `@revoked` line in your known_hosts forbids the ssh key of a host.',
    meaning: 'The private key may be in other hands. No flag overrides this.',
    remedy:
      'Give the host a new key on its console: `rm /etc/ssh/ssh_host_*; ssh-keygen -A; systemctl restart ssh`. Then run the same command with `--forget-host-key HOST`.',
    symptoms: ['no-way'],
  },
  SSH_HOST_KEY_CHANGED: {
    summary: 'The ssh key of a host differs from the expected key.',
    meaning:
      'The expected key is `ssh.hostKey`, the pinned one or that of known_hosts. Either the machine was reinstalled, or another machine has its address. hyperkube would give certificates to that machine.',
    remedy:
      'Run `for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf $f; done` on the console of the machine, not over ssh. If the new fingerprint is listed, correct `ssh.hostKey`, or run the same command with `--forget-host-key HOST` if there is none.',
    symptoms: ['no-way'],
  },
  SSH_HOST_KEY_NOT_READ: {
    summary: 'A host sent an invalid ssh host key.',
    meaning: 'Another program than an ssh server listens at that address and port.',
    remedy: '`ssh-keyscan -p PORT ADDRESS` shows what responds. Fix `address` or `ssh.port` of the host.',
  },
  SSH_HOST_NAME: {
    summary: 'hyperkube tried to pin a key for an invalid host name.',
    meaning: 'Keys are pinned by the names in cluster.yml, so that a new address alone changes nothing.',
    remedy: 'This is a bug in hyperkube; please report it with your command.',
  },
  SSH_UNREACHABLE: {
    summary: 'A host, or a bastion on the way to it, is unreachable over ssh.',
    meaning:
      'The message names the cause, such as a refused connection, a timeout, a missing route or an unknown name.',
    remedy: 'Run the command from the hint. `ssh -v USER@ADDRESS true` shows where ssh fails.',
    symptoms: ['no-way'],
  },
  SSH_KEX: {
    summary: 'A host and the built-in ssh client of hyperkube have no common algorithm.',
    meaning: 'The sshd accepts only post-quantum key exchanges, or only outdated ones.',
    remedy:
      'Set `ssh.client` to `system` to use the ssh program of this machine. Or enable `curve25519-sha256`; `sshd -T | grep kexalgorithms` on the host shows the algorithms.',
  },
  SSH_LOST: {
    summary: 'The ssh connection to a host was lost during an operation.',
    meaning:
      'The network failed, or the host went down. The state of the remote program is unknown; an agent continues its run.',
    remedy: 'Run the same command again; it resumes.',
  },
  SSH_DIAL_REFUSED: {
    summary: 'A host could not open a forwarded connection to an address.',
    meaning:
      'hyperkube reaches etcd and the API through ssh. Usually the service has not started yet or has exited; the message holds the error of the host.',
    remedy:
      '`ss -Htlnp` on the host shows the listening processes. `journalctl -u SERVICE` shows why a service does not listen.',
  },
  SSH_FORWARD_FORBIDDEN: {
    summary: 'The sshd of a host forbids TCP forwarding.',
    meaning: 'hyperkube reaches etcd and the API through ssh, so that only the ssh port must be open.',
    remedy:
      'Check `sshd -T | grep -iE "allowtcpforwarding|disableforwarding|permitopen"` on the host. Set `AllowTcpForwarding yes` or `local` in sshd_config and reload sshd. Remove `restrict` and `no-port-forwarding` from authorized_keys.',
  },
  SSH_SESSION_REFUSED: {
    summary: 'The sshd of a host refuses more sessions on an open connection.',
    meaning: 'Usually `MaxSessions` is very small, or the login is restricted to one command.',
    remedy: 'Check `sshd -T | grep -i maxsessions` on the host. The default of 10 is enough.',
  },
  SSH_NO_KEY_ACCEPTED: {
    summary: 'A host accepts none of the ssh keys of the operator for this user.',
    meaning:
      'The message lists the offered keys by file and fingerprint, and the methods of the host. hyperkube never asks for passwords.',
    remedy:
      '`ssh-copy-id -i KEY USER@ADDRESS` installs a key. `ssh.key` selects the key and `ssh.user` the user.',
    symptoms: ['no-way'],
  },
  SSH_KEY_ENCRYPTED: {
    summary: 'The ssh key for a host needs a passphrase, and the ssh agent does not hold the key.',
    meaning: 'Use the ssh agent: it asks for the passphrase once, not for every host.',
    remedy: 'Run `ssh-add FILE`, then the same command. Without an agent run `eval "$(ssh-agent)"` first.',
  },
  SSH_KEY_NOT_READ: {
    summary: 'The file of `ssh.key` does not exist or is not a supported private key.',
    meaning: 'A relative path starts at the directory of cluster.yml.',
    remedy:
      '`ssh-keygen -l -f FILE` shows the type of the key. For keys on hardware tokens set `ssh.client` to `system`.',
  },
  SSH_CONFIG_NOT_READ: {
    summary: 'hyperkube cannot read your `~/.ssh/config`, or its includes form a loop.',
    remedy: '`ssh -G ADDRESS` shows the settings of ssh for a host and reports errors.',
  },
  SSH_CONFIG_SETTING: {
    summary: 'Your `~/.ssh/config` has a setting for a host that only the ssh program supports.',
    meaning: 'The setting is `ProxyCommand`. Without it the host would most likely be unreachable.',
    remedy:
      'Set `ssh.client` to `system` to use the ssh program of this machine. Or set a bastion in `ssh.bastion`.',
  },
  SSH_NO_ADMINISTRATOR: {
    summary: 'The ssh user of a Windows host is not an administrator.',
    meaning: 'Only administrators can manage Windows services and networks, and Windows has no sudo.',
    remedy:
      'Set `ssh.user` to a member of the group Administrators. Put its key into `C:\\ProgramData\\ssh\\administrators_authorized_keys`, which only administrators and the system may access.',
    symptoms: ['no-way'],
  },
  SFTP_NOT_SPOKEN: {
    summary: 'The sshd of a Windows host has no working sftp server.',
    meaning: 'hyperkube uploads files to Windows hosts over sftp.',
    remedy:
      'Add `Subsystem sftp sftp-server.exe` to `C:\\ProgramData\\ssh\\sshd_config` on the host. Then run `Restart-Service sshd` there.',
    symptoms: ['no-way'],
  },
  HOST_CALL_FAILED: {
    summary: 'hyperkube on a Windows host returned an invalid response.',
    meaning:
      'The shell of sshd starts it and must be cmd.exe or PowerShell. Another shell writes output, or the program cannot run.',
    remedy:
      'Log in with ssh; there must be no output before the prompt. `Get-ItemProperty HKLM:\\SOFTWARE\\OpenSSH` shows the shell. Then run the same command again.',
    symptoms: ['no-way'],
  },
  SSH_NO_SUDO: {
    summary: 'The ssh user of a host is not root and cannot become root.',
    meaning: 'The host has no sudo, or sudo does not allow this user everything. hyperkube needs root.',
    remedy: 'Run the command from the hint as root on the host, or set `ssh.user` to `root`.',
    symptoms: ['no-way'],
  },
  SSH_SUDO_PASSWORD: {
    summary: 'sudo on a host asks for a password.',
    meaning: 'hyperkube cannot enter a password. sudo also asks users who have no permission at all.',
    remedy: 'Run the command from the hint as root on the host, or set `ssh.user` to `root`.',
    symptoms: ['no-way'],
  },
  SSH_OUTPUT_TOO_LONG: {
    summary: 'A program on a host wrote too much output and was terminated.',
    remedy: 'Run the command from the message on the host to see why its output does not end.',
  },
  UPLOAD_NO_ROOM: {
    summary: 'A host has not enough disk space for a file.',
    meaning: 'The existing file is unchanged, and the partial upload was deleted.',
    remedy: 'Check `df -h DIRECTORY` on the host and free space. Then run the same command again.',
  },
  UPLOAD_FAILED: {
    summary: 'A host could not write an uploaded file.',
    meaning: 'The message holds the error of the host. The existing file is unchanged.',
    remedy: 'Fix the error in the message, then run the same command again.',
  },
  UPLOAD_NOT_WHOLE: {
    summary: 'An uploaded file does not match the expected digest and was not installed.',
    meaning:
      'It is a different file, or it changed during the upload. The existing file is unchanged, and the upload was deleted.',
    remedy: 'Run the same command again. If it fails again, download the file again.',
  },
  UPLOAD_SOURCE_NOT_READ: {
    summary: 'A file to upload does not exist or is not a regular file.',
    remedy: 'Check `ls -l FILE` on this machine.',
  },
}
