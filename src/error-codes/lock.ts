import type { Entries } from './entry.ts'

export const lock: Entries = {
  LOCK_NOT_READ: {
    summary: 'cluster.lock could not be read, or is not a lock.',
    meaning:
      'It is written by a program; one that is wrong anywhere is refused as a whole, because digests depend on it.',
    remedy:
      '`git checkout -- cluster.lock` brings the committed one back; or remove it and type `hyperkube lock`.',
    symptoms: ['not-started'],
  },
  LOCK_NOT_WRITTEN: {
    summary: 'cluster.lock could not be written.',
    meaning: 'The former one, if there was one, is as it was.',
    remedy:
      '`ls -ld .` and `df -h .` show whether you may write here and whether there is room; then `hyperkube lock`.',
  },
  LOCK_NOT_RESOLVED: {
    summary: 'Not every file and image could be looked up; nothing was written.',
    meaning:
      'A lock with gaps would fail on a host, in the middle of a rollout. The message lists all that failed.',
    remedy:
      'See the codes in the list. Without a way to the internet set `spec.artifacts` to a mirror or a bundle, and name mirrors in `spec.registries`. Then `hyperkube lock`.',
  },
  LOCK_OTHER_KUBERNETES: {
    summary: 'cluster.yml and cluster.lock name different versions of Kubernetes.',
    meaning: 'One of the two was changed and the other not, or a merge took only one of them.',
    remedy:
      'Decide which is meant, set `spec.kubernetes` to it, and type `hyperkube lock`. Commit both together.',
  },
  LOCK_MISSING_ARTIFACT: {
    summary: 'The lock has no digest for a file that a host needs.',
    meaning:
      'A host of another system or processor came in after the lock was made. Without a digest nothing is installed.',
    remedy:
      '`hyperkube lock`, for hosts with arm64 `hyperkube lock --arch amd64 --arch arm64`; commit the result.',
  },
  LOCK_OTHER_ARTIFACT: {
    summary: 'The lock has another version of a file, or another place, than this hyperkube’s catalog.',
    meaning: 'The lock was made by another release of hyperkube.',
    remedy:
      '`hyperkube lock --check` shows the difference; `hyperkube lock` takes it over. Commit the result.',
  },
  LOCK_OTHER_IMAGE: {
    summary: 'The lock has another container image than this hyperkube’s catalog.',
    meaning: 'The lock was made by another release of hyperkube.',
    remedy:
      '`hyperkube lock --check` shows the difference; `hyperkube lock` takes it over. Commit the result.',
  },
  CHECKSUM_NOT_READ: {
    summary: 'What should be a checksum file is something else, or does not name the file.',
    meaning:
      'Often the error page of a proxy or mirror, sent as if it were the file. No digest is made up instead.',
    remedy: '`curl -fL URL` with the URL of the message shows what comes. Mend the mirror or the way to it.',
  },
  MIRROR_NOT_A_BASE: {
    summary: 'The mirror’s address is not one that a path can be put behind.',
    meaning:
      'It has a user, a password, `?` or `#` in it, or is not http. The message does not repeat it: it may hold a password.',
    remedy: 'Write it as `https://mirror.example/path`.',
  },
  URL_NOT_HTTPS: {
    summary: 'A file of upstream’s would be fetched without encryption.',
    meaning: 'Whoever is on the way could choose the program that runs as root on every host.',
    remedy:
      'Take the file named in the message from an https address; only a mirror that you name may do without.',
  },
  FETCH_UNREACHABLE: {
    summary: 'A server could not be reached, or the connection broke. It was tried three times.',
    meaning: 'Name resolution, firewall, proxy, certificate: the cause stands behind the colon.',
    remedy:
      '`curl -vI URL` from the same machine shows where it ends. Without a way out, set `spec.artifacts` to a mirror.',
  },
  FETCH_SERVER_ERROR: {
    summary: 'A server answered with a failure of its own (5xx). It was tried three times.',
    remedy: 'Wait and run the command again; if it is your mirror, its log says more.',
  },
  FETCH_NOT_FOUND: {
    summary: 'There is no such file at that address (404).',
    meaning: 'Upstream keeps its files; a mirror is often not filled for a new version yet.',
    remedy: 'Fill the mirror, with upstream’s layout: the path begins with the name of upstream’s site.',
  },
  FETCH_REFUSED: {
    summary: 'A server does not give the file (4xx), or leads from redirect to redirect.',
    meaning: 'Mostly a proxy or mirror that wants a login, which hyperkube does not have.',
    remedy:
      '`curl -vI URL` shows what it wants. Let the mirror answer without a login, to your network alone.',
  },
  FETCH_TOO_LARGE: {
    summary: 'What comes from an address is larger than the file can be.',
    meaning: 'It is something else. Nothing of it was kept.',
    remedy: '`curl -fL URL | head -c 200` shows what it is; mend the mirror.',
  },
  FETCH_INSECURE: {
    summary: 'An https address leads on to one without encryption.',
    meaning: 'Whoever is on the way from there could choose what is installed.',
    remedy: 'Mend the redirect of the mirror or proxy. `curl -vI URL` shows it.',
  },
  FETCH_ENCODED: {
    summary: 'A server or proxy compresses the file on the way although it was asked not to.',
    meaning: 'Its digest would be that of other bytes.',
    remedy: 'Switch off compression for these paths in the mirror or proxy (nginx: `gzip off`).',
  },
}
