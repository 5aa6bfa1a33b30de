import type { ErrorCodeEntries } from './entry.ts'

export const lifecycleCodes: ErrorCodeEntries = {
  AGENT_NOT_STARTED: {
    summary: 'hyperkube was installed on the host, but the agent did not start.',
    meaning: 'Usually the host lacks disk space or systemd.',
    remedy:
      'Check `journalctl -u hyperkube-agent -n 50` on the host. Fix the error, then run the same command again.',
  },
  AGENT_NOT_INSTALLED: {
    summary: 'The agent of the host is of another release, and the command installs none.',
    meaning: 'The web interface only reads, and agents of other releases may plan differently.',
    remedy: 'Run `hyperkube plan`: it installs the agent and changes nothing else.',
  },
  AGENT_NOT_THERE: {
    summary: 'No agent listens on the host.',
    remedy: 'Check `systemctl status hyperkube-agent` and `journalctl -u hyperkube-agent` on the host.',
  },
  AGENT_NOT_VERIFIED: {
    summary: 'On a Windows host, a process that is not the agent serves the named pipe of the agent.',
    meaning:
      'Any local user can create the pipe while the agent does not run. The process does not know the key of the agent. It received no request.',
    remedy:
      'Find the process, for example with `handle.exe hyperkube-agent` of Sysinternals, and end it. Then start the agent: `sc.exe start hyperkube-agent`. Find out who started the process.',
  },
  AGENT_PIPE_TAKEN: {
    summary: 'The agent of a Windows host cannot start, because another process serves its named pipe.',
    meaning: 'The agent never shares its pipe. Services of the host run on, but nothing heals them.',
    remedy:
      'Find the process, for example with `handle.exe hyperkube-agent` of Sysinternals, and end it. The service manager then starts the agent.',
  },
  AGENT_GONE: {
    summary: 'The agent of a host closed the connection during a request.',
    meaning: 'The agent or the host was restarted. The agent resumes its run if possible.',
    remedy: 'Run the same command again. `journalctl -u hyperkube-agent` on the host shows the cause.',
  },
  AGENT_INTERRUPTED: {
    summary: 'The agent of a host was stopped during a run.',
    meaning: 'Every operation is atomic, so the host is between two operations.',
    remedy: 'Run the same command again; it resumes.',
  },
  AGENT_PROTOCOL_ERROR: {
    summary: 'The agent of a host sent an unexpected response.',
    meaning: 'Its release is not compatible with this one.',
    remedy:
      'Compare `hyperkube version` here and on the host. The releases must be at most one minor release apart.',
  },
  CLAIM_NO_MAJORITY: {
    summary: 'Too few control planes are reachable to acquire the operator lock.',
    meaning: 'Without a majority two operators could work at once. Nothing was changed.',
    remedy: 'Bring control planes back until more than half are reachable.',
  },
  SMOKE_TEST_FAILED: {
    summary: 'All hosts are configured, but the smoke test of the cluster failed.',
    meaning:
      'hyperkube starts a pod on every node and connects to it from other nodes, and to the API by its service address. One of these checks failed.',
    remedy:
      'The message says where. For pods run `kubectl -n kube-system describe pod -l hyperkube.dev/smoke-test`. Between nodes the usual cause is a firewall that drops UDP. The logs of `flanneld` and `kube-proxy` show more.',
    symptoms: ['step-failed'],
  },
  RESET_NO_HOST: {
    summary: 'None of the hosts to reset can be reached.',
    meaning: 'A reset removes files on the hosts themselves, so it needs an ssh connection to each of them.',
    remedy:
      'Check the network or the VPN between this machine and the hosts. Then run `hyperkube reset` again.',
  },
  RESET_CONTROL_PLANE: {
    summary: '`--limit` selects only a part of the control plane for a reset.',
    meaning: 'The other control planes would still rely on it, and etcd could lose its quorum.',
    remedy:
      'Run `hyperkube reset` without `--limit`. If the other control planes are lost, or if the host was removed while it was off, use `--ignore RESET_CONTROL_PLANE`.',
  },
  GATE_NOT_PASSED: {
    summary: 'A condition for the next step of the rollout did not become true.',
    meaning:
      'The previous step is complete, and no later step was started. The cluster works, but the rollout is not finished.',
    remedy: 'Fix the condition from the message, then run the same command again; it resumes.',
    symptoms: ['step-failed'],
  },
  HOST_ARCH: {
    summary: 'hyperkube does not support the architecture of the host.',
    remedy: 'Use a host with x86_64 or aarch64.',
  },
  RELEASE_NOT_THERE: {
    summary: 'The hyperkube executable for the platform of a host is missing.',
    meaning:
      'A host with the platform of this machine gets the running program. Executables for other platforms are beside it, in the cache, or downloaded from the release.',
    remedy:
      'Put the executable of the same release beside the program, or set `HYPERKUBE_RELEASE_URL` to a directory that has its `.gz` file. From a checkout run `npm run executable -- all`.',
  },
  RELEASE_NOT_THE_SAME: {
    summary: 'The executable for the platform of a host is not of the same release as the running program.',
    meaning:
      'The program contains the digests of all executables of its release. The file differs, so it was changed or is of another release. No host received it.',
    remedy:
      'Remove the file from the message. With `HYPERKUBE_RELEASE_URL` or a mirror, publish the files of the same release there.',
  },
  RELEASE_NOT_VERIFIED: {
    summary: 'A file of a release was changed, or is not of a release of this key.',
    meaning:
      '`SHA256SUMS.minisig` must be a signature of `SHA256SUMS` by the public key, and `SHA256SUMS` must contain the name and the digest of the file. The message names the part that does not match.',
    remedy:
      'Do not use the file. Remove it, download it again with `SHA256SUMS` and `SHA256SUMS.minisig` of the same release, and verify again. Keep the name of the file.',
  },
  RELEASE_FILE_NOT_READ: {
    summary: 'A file that is needed to verify a download cannot be read.',
    meaning: '`version --verify FILE` reads the file, and `SHA256SUMS` and `SHA256SUMS.minisig` beside it.',
    remedy: 'Download the missing file of the same release into the directory of the file.',
  },
  RELEASE_KEY_MISSING: {
    summary: 'There is no public key to verify a release with.',
    meaning:
      'Programs of a signed release contain its public key. This program was built from sources, or the given text is not a public key of minisign.',
    remedy:
      'Pass the key of the project, 56 characters that begin with `RW`: `hyperkube version --verify FILE --public-key KEY`.',
  },
  RUN_LOG_NOT_WRITTEN: {
    summary: 'hyperkube could not write the log of the run.',
    meaning:
      'The run continues. Logs are in `hyperkube/runs/CLUSTER` below `XDG_STATE_HOME` or `~/.local/state`, and on Windows below `%LOCALAPPDATA%`. Each run has one file that only its owner can read.',
    remedy: 'Make that directory writable, or set `XDG_STATE_HOME` to another one.',
  },
  PKI_REQUEST_NOT_PLANNED: {
    summary: 'A host requested a certificate that is not in its plan.',
    meaning: 'Nothing was signed. A compromised host may try this.',
    remedy: 'Inspect the host before you trust it again: `journalctl -u hyperkube-agent`.',
  },
}
