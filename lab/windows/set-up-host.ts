import { chmod, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Host } from '../hosts/host.ts'
import { gatewayAddress } from '../hosts/names.ts'
import { hostProgram, shellProgram, shellSocket, loginUser } from './paths.ts'

/**
 * Makes a lab host look like Windows to ssh clients. Its login shell runs only the simulator, a real sftp
 * server serves the directory /C:, and a service simulates Windows.
 */
export async function setUpWindowsHost(host: Host, network: number, executable: string): Promise<void> {
  const target = join(host.directory, 'root', hostProgram)
  await copyFile(executable, target)
  await chmod(target, 0o755)
  // The home directory is a link, because a path with a colon would break the line in /etc/passwd.
  await host.script(`
mkdir -p '/C:/Users/${loginUser}/.ssh'
ln -sfn '/C:/Users/${loginUser}' /windows-home
install -m 600 /root/.ssh/authorized_keys '/C:/Users/${loginUser}/.ssh/authorized_keys'
cat > ${shellProgram} <<'EOF'
${shellScript}EOF
chmod 755 ${shellProgram}
useradd --non-unique --uid 0 --gid 0 --home-dir /windows-home --no-create-home --shell ${shellProgram} ${loginUser}
cat > /etc/systemd/system/windows-host.service <<'EOF'
${renderUnit(host, gatewayAddress(network))}EOF
systemctl daemon-reload
systemctl enable --quiet --now windows-host.service
until [ -S ${shellSocket} ]; do sleep 0.1; done
`)
}

/**
 * Login shell. sshd passes it a command line, as it does to cmd.exe on Windows. The sftp subsystem is started
 * with a command line too.
 */
const shellScript = `#!/bin/sh
[ "$1" = -c ] || exit 1
case "$2" in /usr/lib/openssh/sftp-server*) exec /usr/lib/openssh/sftp-server ;; esac
exec ${hostProgram} shell "$2"
`

function renderUnit({ name, address }: Host, gateway: string): string {
  return `[Unit]
Description=Simulated Windows host
After=network.target

[Service]
ExecStart=${hostProgram} run ${name} ${address} ${gateway}
RuntimeDirectory=windows-host
RuntimeDirectoryMode=0700
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`
}
