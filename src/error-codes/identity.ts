import type { Entries } from './entry.ts'

export const identity: Entries = {
  IDENTITY_NOT_READ: {
    summary: 'The sealed identity of the cluster does not exist, or could not be read.',
    meaning:
      'It holds what cannot be made again: the authorities that every certificate of the cluster comes from. Do not make a new one for a cluster that runs.',
    remedy:
      'It lies beside cluster.yml, as `cluster.identity`: take it from git or a backup. For a new cluster `hyperkube init` makes it.',
    symptoms: ['not-started'],
  },
  IDENTITY_NOT_WRITTEN: {
    summary: 'The sealed identity could not be written.',
    meaning: 'The former one, if there was one, is as it was. A key that was made for it is kept.',
    remedy:
      '`ls -ld .` and `df -h .` show why; then the same command, with the `--key FILE` of the hint if there is one.',
  },
  IDENTITY_NOT_SEALED: {
    summary: 'The file is not a sealed identity but another document.',
    remedy: 'Look at its name; the identity of `cluster.yml` is `cluster.identity`.',
  },
  IDENTITY_EMPTY: {
    summary: 'The file of the sealed identity is empty.',
    meaning: 'A full disk or an interrupted copy leaves such files; hyperkube itself replaces files whole.',
    remedy: '`git checkout -- cluster.identity`, or take it from a backup.',
  },
  IDENTITY_TRUNCATED: {
    summary: 'The end of the sealed identity is missing.',
    meaning: 'A copy was cut short. Nothing can be read from what is left.',
    remedy: '`git checkout -- cluster.identity`, or take it from a backup.',
  },
  IDENTITY_DAMAGED: {
    summary: 'The sealed identity was changed after it was written.',
    meaning:
      'By an editor, a merge, a disk or a person. Not one byte may differ, so that nobody can swap an authority.',
    remedy: '`git log -p -- cluster.identity` shows who changed it; bring the version before that back.',
  },
  IDENTITY_VERSION: {
    summary: 'The sealed identity is of a format that this hyperkube cannot read.',
    remedy: 'Use the hyperkube that wrote it, or a newer one. `hyperkube version` says which this is.',
  },
  IDENTITY_NOT_VALID: {
    summary: 'The identity opens, but something in it is not what this hyperkube expects.',
    meaning: 'Mostly it was written by a newer hyperkube. The message names places, never values.',
    remedy: 'Use the hyperkube that wrote it, or a newer one. `hyperkube version` says which this is.',
  },
  IDENTITY_KDF_REFUSED: {
    summary: 'The sealed identity asks to use the passphrase in a way that hyperkube never wrote.',
    meaning: 'Somebody may have changed the file so that your passphrase can be guessed from it.',
    remedy:
      'Do not type the passphrase again. Bring the committed file back with `git checkout -- cluster.identity`, and find out who changed it.',
  },
  IDENTITY_OF_ANOTHER: {
    summary: 'The identity belongs to a cluster of another name.',
    meaning: 'With it, hosts would get certificates of the wrong cluster. A cluster keeps its name for life.',
    remedy: 'Set `metadata.name` back, or name the right cluster with `-f`.',
  },
  IDENTITY_WRONG_KEY: {
    summary: 'The key does not open this identity.',
    meaning:
      'It is the key of another cluster, or the identity was sealed with a passphrase and not a key file.',
    remedy:
      'Name the right one with `--key FILE`. Keys lie in `~/.config/hyperkube/keys`, by the name of the cluster.',
  },
  IDENTITY_KEY_NOT_READ: {
    summary: 'The key file does not exist, could not be read, or is not a key file.',
    meaning: 'Without it hyperkube cannot change, repair or rotate the cluster; what runs goes on running.',
    remedy:
      'Put the key where the message says, or name it with `--key FILE`. It is not in git: ask whoever made the cluster, or take it from a backup.',
    symptoms: ['not-started'],
  },
  IDENTITY_KEY_NOT_WRITTEN: {
    summary: 'The key file, or its directory, could not be written.',
    meaning:
      'A key file that is there is never overwritten: the identity sealed with it could never be opened again.',
    remedy: '`--key FILE` puts the key elsewhere, best on no disk that others read.',
  },
  IDENTITY_KEY_EXISTS: {
    summary: 'There is a key file for a cluster of this name already.',
    meaning: 'It belongs to another cluster of the same name, or to a `hyperkube init` that was cut short.',
    remedy:
      '`--key FILE` with a new name makes another key. To take the one that is there, name it with `--key`.',
  },
  IDENTITY_KEY_EMPTY: {
    summary: 'The key or the passphrase is empty.',
    meaning:
      'An empty key file comes from a copy that failed; sealed with it, the identity would be open to everybody.',
    remedy: 'Take the key file from a backup; as a passphrase use several words.',
  },
  SECRET_NAME: {
    summary: 'What was given as the name of a secret is none.',
    remedy:
      'Lower-case letters, digits and dashes: `hyperkube secret set backup-access-key --from-file FILE`.',
  },
  SECRET_NOT_READ: {
    summary: 'The file with the value of a secret could not be read.',
    remedy: '`ls -l FILE`. From another program: `--from-file /dev/stdin`.',
  },
  NO_HOME: {
    summary: 'You have no home directory, where keys would be kept.',
    meaning: 'So it is in some containers and build jobs.',
    remedy: 'Name the key with `--key FILE`, or set `XDG_CONFIG_HOME` to an absolute path.',
  },
}
