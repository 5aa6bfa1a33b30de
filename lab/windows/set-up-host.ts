import { chmod, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Host } from '../hosts/host.ts'
import { gatewayAddress } from '../hosts/names.ts'
import { program, shell, shellSocket, user } from './paths.ts'

/**
 * Makes a host of the lab one that looks like Windows to whoever comes by ssh: its login has a shell that knows our own
 * program and nothing else, a real sftp server finds C: in the root directory, and a service is what Windows is.
 */
export async function furnishWindows(host: Host, network: number, executable: string): Promise<void> {
  const target = join(host.directory, 'root', program)
  await copyFile(executable, target)
  await chmod(target, 0o755)
  // A home with a colon in its name would end the line in passwd.
  await host.script(`
mkdir -p '/C:/Users/${user}/.ssh'
ln -sfn '/C:/Users/${user}' /windows-home
install -m 600 /root/.ssh/authorized_keys '/C:/Users/${user}/.ssh/authorized_keys'
cat > ${shell} <<'EOF'
${shellText}EOF
chmod 755 ${shell}
useradd --non-unique --uid 0 --gid 0 --home-dir /windows-home --no-create-home --shell ${shell} ${user}
cat > /etc/systemd/system/windows-host.service <<'EOF'
${unitText(host, gatewayAddress(network))}EOF
systemctl daemon-reload
systemctl enable --quiet --now windows-host.service
until [ -S ${shellSocket} ]; do sleep 0.1; done
`)
}

/** sshd hands it a line, as that of Windows does to cmd.exe; a subsystem is a line, too. */
const shellText = `#!/bin/sh
[ "$1" = -c ] || exit 1
case "$2" in /usr/lib/openssh/sftp-server*) exec /usr/lib/openssh/sftp-server ;; esac
exec ${program} shell "$2"
`

function unitText({ name, address }: Host, gateway: string): string {
  return `[Unit]
Description=a Windows host without Windows
After=network.target

[Service]
ExecStart=${program} run ${name} ${address} ${gateway}
RuntimeDirectory=windows-host
RuntimeDirectoryMode=0700
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`
}
