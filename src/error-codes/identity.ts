import type { ErrorCodeEntries } from './entry.ts'

export const identityCodes: ErrorCodeEntries = {
  IDENTITY_NOT_READ: {
    summary: 'The sealed identity of the cluster does not exist or cannot be read.',
    meaning:
      'It holds the CAs of the cluster, which cannot be created again. Do not create a new identity for a running cluster.',
    remedy:
      'Restore `cluster.identity` beside cluster.yml from git or a backup. For a new cluster `hyperkube init` creates it.',
    symptoms: ['not-started'],
  },
  IDENTITY_NOT_WRITTEN: {
    summary: 'hyperkube could not write the sealed identity.',
    meaning: 'The previous identity, if any, is unchanged. A key that was created for it is kept.',
    remedy:
      '`ls -ld .` shows the permissions and `df -h .` the free space. Then run the same command, with `--key FILE` from the hint if there is one.',
  },
  IDENTITY_NOT_SEALED: {
    summary: 'The file is not a sealed identity but another document.',
    remedy: 'Check its name; the identity of `cluster.yml` is `cluster.identity`.',
  },
  IDENTITY_EMPTY: {
    summary: 'The file of the sealed identity is empty.',
    meaning: 'A full disk or an interrupted copy can cause this; hyperkube itself replaces files atomically.',
    remedy: '`git checkout -- cluster.identity` restores it, or take it from a backup.',
  },
  IDENTITY_TRUNCATED: {
    summary: 'The sealed identity is incomplete.',
    meaning: 'A copy was interrupted. The remaining part cannot be decrypted.',
    remedy: '`git checkout -- cluster.identity` restores it, or take it from a backup.',
  },
  IDENTITY_DAMAGED: {
    summary: 'The sealed identity was changed after it was written.',
    meaning:
      'An editor, a merge, a disk or a person changed it. hyperkube refuses any change, so that an attacker cannot replace a CA.',
    remedy: '`git log -p -- cluster.identity` shows who changed it. Restore the version before that change.',
  },
  IDENTITY_VERSION: {
    summary: 'This hyperkube release cannot read the format of the sealed identity.',
    remedy: 'Use the release that wrote it, or a newer one. `hyperkube version` shows yours.',
  },
  IDENTITY_NOT_VALID: {
    summary: 'The identity can be decrypted, but its content is invalid for this hyperkube release.',
    meaning: 'The usual cause is a newer release that wrote it. The message names fields, never values.',
    remedy: 'Use the release that wrote it, or a newer one. `hyperkube version` shows yours.',
  },
  IDENTITY_KDF_REFUSED: {
    summary: 'The sealed identity has key derivation settings that hyperkube never wrote.',
    meaning: 'An attacker may have changed the file in order to guess your passphrase.',
    remedy:
      'Do not enter the passphrase again. Restore the committed file with `git checkout -- cluster.identity` and find out who changed it.',
  },
  IDENTITY_MISMATCH: {
    summary: 'The identity belongs to a cluster with another name.',
    meaning: 'Hosts would get certificates of the wrong cluster. The name of a cluster cannot change.',
    remedy: 'Restore `metadata.name`, or select the right cluster with `-f FILE`.',
  },
  IDENTITY_OUTDATED: {
    summary: 'The identity is older than the keys that the hosts use.',
    meaning:
      'It is probably from a backup before a rotation. The change would replace the newer keys on the hosts. Without the newer encryption key, API servers can never read the Secrets again. Nothing was changed.',
    remedy:
      'Restore the newest `cluster.identity` from git or a backup. A snapshot that is newer than the rotation contains it: `hyperkube etcd snapshot unpack FILE --key FILE --to DIRECTORY`. After a restore of etcd data that is as old as the identity, use `--ignore IDENTITY_OUTDATED`.',
  },
  IDENTITY_WRONG_KEY: {
    summary: 'The key does not decrypt this identity.',
    meaning:
      'It is the key of another cluster, or the identity was sealed with a passphrase instead of a key file.',
    remedy:
      'Select the right key with `--key FILE`. Keys are in `~/.config/hyperkube/keys`, named after the cluster.',
  },
  IDENTITY_KEY_NOT_READ: {
    summary: 'The key file does not exist, cannot be read, or is not a key file.',
    meaning:
      'Without the key hyperkube cannot change, repair or rotate the cluster. The running cluster is not affected.',
    remedy:
      'Put the key at the path in the message, or select it with `--key FILE`. It is not in git: ask the operator who created the cluster, or use a backup.',
    symptoms: ['not-started'],
  },
  IDENTITY_KEY_EXPOSED: {
    summary: 'Other users of this machine can read or change the key file.',
    meaning:
      'A user with this key and `cluster.identity` controls the cluster. hyperkube does not use such a key.',
    remedy:
      'Run the `chmod` command from the hint. If an untrusted user could read the file, replace its keys: `hyperkube certs rotate-key identity`, then `hyperkube certs rotate-ca` and the other keys of `hyperkube certs rotate-key`.',
    symptoms: ['not-started'],
  },
  IDENTITY_KEY_NOT_WRITTEN: {
    summary: 'hyperkube could not write the key file or create its directory.',
    meaning: 'hyperkube never overwrites a key file, because its identity could never be decrypted again.',
    remedy: 'Choose another path with `--key FILE`, best on a disk that only you can read.',
  },
  IDENTITY_KEY_EXISTS: {
    summary: 'A key file for a cluster with this name already exists.',
    meaning: 'It belongs to another cluster with the same name, or to an interrupted `hyperkube init`.',
    remedy:
      '`--key FILE` with a new path creates another key. To use the existing key, select it with `--key FILE`.',
  },
  IDENTITY_KEY_EMPTY: {
    summary: 'The key or the passphrase is empty.',
    meaning:
      'An interrupted copy leaves an empty key file. Anyone could decrypt an identity that is sealed with it.',
    remedy: 'Restore the key file from a backup. Use several words as a passphrase.',
  },
  SECRET_NAME: {
    summary: 'The given name of a secret is invalid.',
    remedy:
      'Use lower-case letters, digits and dashes: `hyperkube secret set backup-access-key --from-file FILE`.',
  },
  SECRET_NOT_READ: {
    summary: 'hyperkube cannot read the file with the value of a secret.',
    remedy: 'Check `ls -l FILE`. To read from another program use `--from-file /dev/stdin`.',
  },
  NO_HOME: {
    summary: 'There is no home directory for keys.',
    meaning: 'This happens in some containers and CI jobs.',
    remedy: 'Select the key with `--key FILE`, or set `XDG_CONFIG_HOME` to an absolute path.',
  },
}
