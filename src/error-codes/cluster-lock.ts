import type { ErrorCodeEntries } from './entry.ts'

export const lockCodes: ErrorCodeEntries = {
  PROGRAM_NOT_LOCKED: {
    summary: 'cluster.lock has no program that runs on this machine.',
    meaning:
      'hyperkube runs the etcd of cluster.lock to test snapshots, and its kubectl for `hyperkube kubectl`. Its Helm renders charts of addons. They exist only for the systems of the hosts.',
    remedy:
      'On Linux with another architecture, run `hyperkube lock --arch amd64 --arch arm64`. Otherwise run the same command on a Linux machine.',
  },
  PROGRAM_CHANGED: {
    summary: 'A downloaded program does not match cluster.lock.',
    meaning: 'A mirror is damaged, or upstream has replaced the file. hyperkube did not run it.',
    remedy: '`hyperkube lock --check` shows whether upstream has changed it. Otherwise fix the mirror.',
  },
  LOCK_NOT_READ: {
    summary: 'cluster.lock cannot be read or is invalid.',
    meaning:
      'hyperkube writes this file. A file with any error is refused completely, because the digests in it must be correct.',
    remedy:
      '`git checkout -- cluster.lock` restores the committed file. Or delete it and run `hyperkube lock`.',
    symptoms: ['not-started'],
  },
  LOCK_NOT_WRITTEN: {
    summary: 'hyperkube could not write cluster.lock.',
    meaning: 'The previous file, if any, is unchanged.',
    remedy: '`ls -ld .` shows the permissions and `df -h .` the free space. Then run `hyperkube lock`.',
  },
  LOCK_NOT_RESOLVED: {
    summary: 'hyperkube could not resolve every file and image. cluster.lock was not written.',
    meaning: 'An incomplete lock would fail on a host during a rollout. The message lists all failures.',
    remedy:
      'See the codes in the list. Without internet access set `spec.artifacts` to a mirror or a bundle, and list mirrors in `spec.registries`. Then run `hyperkube lock`.',
  },
  LOCK_DIGEST_REFUSED: {
    summary: 'A source has other content than this hyperkube release expects.',
    meaning:
      'The digests of catalogued files and images are part of the hyperkube release. A mirror or a download site with other content is damaged or hostile. cluster.lock was not written.',
    remedy:
      'Use another source in `spec.artifacts` or `spec.registries`. If the mirror has your own builds, set `digests: mirror` beside `mirror`. Then run `hyperkube lock`.',
  },
  LOCK_DIGEST_CHANGED: {
    summary: 'Content has changed although its version and URL have not.',
    meaning:
      'Publishers do not replace released files. A source is damaged or hostile, or a tag of an image was moved. cluster.lock was not written.',
    remedy:
      'Compare the digests of the message with those of the publisher. If the new content is right, run `hyperkube lock --accept-changed-digests`.',
  },
  LOCK_OTHER_KUBERNETES: {
    summary: 'cluster.yml and cluster.lock name different Kubernetes versions.',
    meaning: 'Only one of the two files was changed, or a merge took only one of them.',
    remedy:
      'Set `spec.kubernetes` to the right version and run `hyperkube lock`. Commit both files together.',
  },
  LOCK_OLDER_CATALOG: {
    summary: 'cluster.lock is from a newer catalog than the one that hyperkube finds.',
    meaning:
      '`cluster.catalog` is missing or was replaced by an older one. Its versions could be older than those that the cluster runs.',
    remedy:
      '`git checkout -- cluster.catalog` restores the committed file. To use the older versions, run `hyperkube lock --accept-older-catalog`.',
  },
  LOCK_MISSING_ARTIFACT: {
    summary: 'cluster.lock has no digest for a file that a host needs.',
    meaning:
      'A host with another operating system or architecture was added after the lock was written. hyperkube installs nothing without a digest.',
    remedy:
      'Run `hyperkube lock`. For arm64 hosts run `hyperkube lock --arch amd64 --arch arm64`. Commit the result.',
  },
  LOCK_OTHER_ARTIFACT: {
    summary: 'A file in cluster.lock has another version or URL than in the catalog.',
    meaning: 'Another hyperkube release wrote the lock, or the catalog was updated.',
    remedy:
      '`hyperkube lock --check` shows the difference. `hyperkube lock` updates the lock. Commit the result.',
  },
  LOCK_OTHER_IMAGE: {
    summary: 'A container image in cluster.lock differs from the catalog.',
    meaning: 'Another hyperkube release wrote the lock, or the catalog was updated.',
    remedy:
      '`hyperkube lock --check` shows the difference. `hyperkube lock` updates the lock. Commit the result.',
  },
  CHECKSUM_NOT_READ: {
    summary: 'The checksum file is invalid or does not list the file.',
    meaning:
      'The usual cause is an error page of a proxy or mirror. hyperkube does not continue without a digest.',
    remedy: '`curl -fL URL` with the URL from the message shows the content. Fix the mirror or the proxy.',
  },
  MIRROR_NOT_A_BASE: {
    summary: 'The URL of the mirror cannot be used as a base URL.',
    meaning:
      'It contains a user, a password, `?` or `#`, or is not http. The message omits it, because it may contain a password.',
    remedy: 'Set it as `https://mirror.example/path`.',
  },
  URL_NOT_HTTPS: {
    summary: 'An upstream file would be downloaded without encryption.',
    meaning: 'An attacker on the network could replace a program that runs as root on every host.',
    remedy: 'Use an https URL for the file in the message. Only a mirror from cluster.yml may use http.',
  },
  FETCH_UNREACHABLE: {
    summary: 'A server is unreachable, or the connection failed. hyperkube tried three times.',
    meaning: 'The cause follows the colon: name resolution, a firewall, a proxy or a certificate.',
    remedy:
      '`curl -vI URL` on the same machine shows where it fails. Without internet access set `spec.artifacts` to a mirror.',
  },
  FETCH_SERVER_ERROR: {
    summary: 'A server returned an error (5xx). hyperkube tried three times.',
    remedy: 'Wait and run the same command again. If it is your mirror, check its log.',
  },
  FETCH_NOT_FOUND: {
    summary: 'The file does not exist at that URL (404).',
    meaning: 'Upstream keeps its files. A mirror often lacks the files of a new version.',
    remedy: 'Add the file to the mirror in the upstream layout: the path begins with the upstream host name.',
  },
  FETCH_REFUSED: {
    summary: 'A server refused the download (4xx), or redirected too often.',
    meaning: 'The usual cause is a mirror that requires a login. hyperkube sends no login to file mirrors.',
    remedy: '`curl -vI URL` shows the response. Allow your network to read the mirror without a login.',
  },
  FETCH_CA_UNKNOWN: {
    summary: 'The certificate of a server is signed by a CA that is not trusted.',
    meaning:
      'The server has a certificate of a private CA, or a proxy decrypts TLS. An attacker looks the same. Nothing was downloaded.',
    remedy:
      'Compare the CA with that of your network team: `openssl s_client -showcerts -connect HOST:PORT`. Then set its file as `ca` in `spec.registries`, `spec.artifacts` or `spec.proxy`.',
  },
  PROXY_LOGIN_REFUSED: {
    summary: 'The HTTP proxy demands a login, or refuses the login (407).',
    remedy:
      'Set `username` and `password: { secret: NAME }` in `spec.proxy`, run `hyperkube secret set NAME`, and repeat the command. [Corporate networks](../how-to/corporate-network.md) explains the settings.',
  },
  PROXY_REFUSED: {
    summary: 'The HTTP proxy does not allow this target.',
    meaning: 'Proxies often allow only listed sites. The message has the status of the proxy.',
    remedy:
      'Allow the sites of [the requirements](requirements.md) in the proxy. For targets inside your network, list them in `spec.proxy.no`.',
  },
  FETCH_TOO_LARGE: {
    summary: 'The download is larger than the expected file.',
    meaning: 'The server sends something else. hyperkube kept nothing of it.',
    remedy: '`curl -fL URL | head -c 200` shows the content. Fix the mirror.',
  },
  FETCH_INSECURE: {
    summary: 'An https URL redirects to a URL without encryption.',
    meaning: 'An attacker on the network could replace the file.',
    remedy: 'Fix the redirect of the mirror or proxy. `curl -vI URL` shows it.',
  },
  FETCH_ENCODED: {
    summary: 'A server or proxy compresses the file although hyperkube asked for none.',
    meaning: 'The digest of the compressed bytes would not match.',
    remedy: 'Disable compression for these paths in the mirror or proxy (nginx: `gzip off`).',
  },
}

export const catalogCodes: ErrorCodeEntries = {
  CATALOG_UNKNOWN_VERSION: {
    summary: 'The catalog does not have the minor of that Kubernetes version.',
    meaning:
      'Each minor version needs its own etcd, flags and settings. hyperkube accepts every patch version of the minors in its catalog.',
    remedy:
      'Set `spec.kubernetes` to a version from the hint; `hyperkube catalog list` shows all minors. A newer hyperkube release or a newer signed catalog has newer minors.',
  },
  CATALOG_NOT_TRUSTED: {
    summary: 'A catalog is not signed, was changed, or is signed by an unknown key.',
    meaning:
      'A catalog chooses the versions of all programs. hyperkube accepts only catalogs that a trusted key has signed, and checks this at every command.',
    remedy:
      '`git checkout -- cluster.catalog cluster.catalog-keys` restores the committed files. For a new catalog, get the key of its publisher from another source than the catalog. If it is the same key, run `hyperkube catalog update --from FILE --public-key KEY`.',
    symptoms: ['not-started'],
  },
  CATALOG_NOT_VALID: {
    summary: 'A signed catalog has content that this hyperkube cannot read.',
    meaning:
      'The signature is right, but the content is too large, is not valid JSON, or has fields that this release does not know.',
    remedy: 'Use a newer hyperkube release, or report the problem to the publisher of the catalog.',
  },
  CATALOG_NOT_READ: {
    summary: 'hyperkube could not read a catalog or its keys.',
    meaning:
      'The file does not exist or cannot be read, or `spec.artifacts` names no source that has a catalog.',
    remedy: 'Name the catalog: `hyperkube catalog update --from FILE` or `--from URL`.',
  },
  CATALOG_NOT_WRITTEN: {
    summary: 'hyperkube could not write cluster.catalog or cluster.catalog-keys.',
    meaning: 'The previous file, if any, is unchanged.',
    remedy:
      '`ls -ld .` shows the permissions and `df -h .` the free space. Then run `hyperkube catalog update` again.',
  },
  CATALOG_KEY_INVALID: {
    summary: 'A public key of catalogs is not valid.',
    meaning: 'A public key has 44 characters, the last one `=`. The message names the file or flag.',
    remedy: 'Copy the key again from its publisher.',
  },
  CATALOG_OLDER: {
    summary: 'The new catalog has no higher serial than the current one.',
    meaning: 'An old catalog could bring back versions with known vulnerabilities. Nothing was written.',
    remedy:
      'Get the newest catalog. To return to older versions, run `hyperkube catalog update --accept-older-catalog`, then `hyperkube lock --accept-older-catalog`.',
  },
  CATALOG_BEHIND_RELEASE: {
    summary: 'cluster.catalog is older than the catalog of this hyperkube release.',
    meaning: 'The file replaces the catalog of the release, so it holds versions back.',
    remedy:
      'Run `hyperkube catalog update` with a newer catalog. Or delete `cluster.catalog` and run `hyperkube lock`, to use the catalog of the release.',
  },
  FLAG_REMOVED: {
    summary: 'A flag in `args` was removed in this version of the program.',
    meaning: 'The program would refuse to start. hyperkube reports this before it changes a control plane.',
    remedy: 'Remove the flag, or use the replacement from the hint. Then run `hyperkube validate`.',
  },
  FEATURE_GATE_REMOVED: {
    summary: 'A feature gate in `spec.components` was removed in this version of Kubernetes.',
    meaning:
      'The program would refuse to start with it. `upgrade` reports this for every version of the path, before the first change.',
    remedy: 'Remove the gate from `args` or `config`. Then run `hyperkube validate`.',
  },
  FEATURE_GATE_LOCKED: {
    summary:
      'This version of Kubernetes locked a feature gate to another value than that of `spec.components`.',
    meaning:
      'The program would refuse to start with it. `upgrade` reports this for every version of the path, before the first change.',
    remedy:
      'Check that the cluster works with the value in the message. Then remove the gate from `args` or `config`, and run `hyperkube validate`.',
  },
  FLAG_UNKNOWN: {
    summary: 'This version of the program has no such flag.',
    meaning:
      'hyperkube knows all flags of the programs, also hidden ones. The program would refuse to start; flanneld would exit with success.',
    remedy:
      'Fix its spelling and omit leading dashes. Windows flags belong to `components` of a Windows host. Then run `hyperkube validate`.',
  },
  FLAG_VALUE: {
    summary: 'A boolean flag has another value than true or false.',
    meaning: 'YAML reads yes, no, on and off as text, and the program would refuse to start.',
    remedy: 'Set `true` or `false`. Then run `hyperkube validate`.',
  },
  FLAG_OWNED: {
    summary: 'hyperkube sets this flag in `args` itself and depends on it.',
    meaning: 'Addresses, certificates and paths must match across hosts.',
    remedy: 'Remove the flag. If the hint names a setting, use that setting.',
  },
  FLAG_WEAKENS: {
    summary: 'The value of a flag in `args` disables a protection of the cluster.',
    meaning:
      'The message says what happens with this value. An error is refused. A warning is reported, and the value is used.',
    remedy: 'Apply the change from the hint, then run `hyperkube validate`.',
  },
  CONFIG_WEAKENS: {
    summary: 'A value in `config` of a component disables a protection of the cluster.',
    meaning:
      'The message says what happens with this value. An error is refused. A warning is reported, and the value is used. `null` removes the setting of hyperkube.',
    remedy: 'Apply the change from the hint, then run `hyperkube validate`.',
  },
  CONFIG_NOT_CHECKED: {
    summary: 'hyperkube cannot read the TOML in `spec.components.containerd.config`.',
    meaning:
      'The text is used as it is, but hyperkube did not check whether its settings weaken the cluster. containerd may refuse it.',
    remedy:
      'Fix the TOML, then run `hyperkube validate`. `containerd --config FILE config dump` on a host shows the error.',
  },
  OIDC_NOT_TRANSLATED: {
    summary: 'An OIDC flag of kube-apiserver cannot become a part of its authentication file.',
    meaning:
      'hyperkube writes the OIDC flags into the file that limits anonymous requests, because kube-apiserver accepts only one of file and flags.',
    remedy: 'Apply the change from the hint, then run `hyperkube validate`.',
  },
  OIDC_INVALID: {
    summary: 'An OIDC flag of kube-apiserver is missing or has a value that kube-apiserver would refuse.',
    meaning: 'Every API server with these flags would fail to start.',
    remedy: 'Correct the flag of the message, then run `hyperkube validate`.',
  },
}
