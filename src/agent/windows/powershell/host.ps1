# All that hyperkube ever does on a Windows host through PowerShell. It is sent whole to one process of Windows PowerShell
# 5.1, which then gets requests, each a line with JSON in base64, and answers each with one line of JSON.
#
# What to hold it against in a review:
# - No text is ever put together from what a request says and then run: values only go into parameters.
# - Every operation has a row in src/agent/windows/operations, every command one in commands.ts there.
# - Properties are handed on under the names that Windows documents; nothing is renamed or judged here.
# - Only plain statements: a parser that knows half of the language shall be able to read it.

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$WarningPreference = 'SilentlyContinue'

# Otherwise lists become objects with Count and value, at times.
Remove-TypeData -TypeName System.Array -ErrorAction SilentlyContinue

$servicesKey = 'HKLM:\SYSTEM\CurrentControlSet\Services'
$versionKey = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$rebootKey = 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending'
$machineKey = 'HKLM:\SOFTWARE\Microsoft\Cryptography'
$utf8 = New-Object System.Text.UTF8Encoding($false)
$operations = @{}

function Get-Instant([DateTime] $time) { $time.ToUniversalTime().ToString('o') }

# The one way to HNS for what no command of Windows does.
function Invoke-Hns([string] $method, [string] $path, [string] $request) {
    if ($null -eq ('Hyperkube.Hns' -as [type])) {
        Add-Type -Namespace Hyperkube -Name Hns -MemberDefinition '[DllImport("vmcompute.dll")] public static extern void HNSCall([MarshalAs(UnmanagedType.LPWStr)] string method, [MarshalAs(UnmanagedType.LPWStr)] string path, [MarshalAs(UnmanagedType.LPWStr)] string request, [MarshalAs(UnmanagedType.LPWStr)] out string response);'
    }
    $response = ''
    [Hyperkube.Hns]::HNSCall($method, $path, $request, [ref] $response)
    $answer = ConvertFrom-Json -InputObject $response
    if (-not $answer.Success) { throw ('HNS: ' + [string] $answer.Error) }
    $answer.Output
}

function Assert-Zero([string] $what, $code) {
    if ($code -ne 0) { throw ($what + ' answered ' + [string] $code) }
}

$operations['services.list'] = {
    param($wish)
    $found = Get-CimInstance -ClassName Win32_Service | Where-Object { $wish.names -contains $_.Name }
    foreach ($service in $found) {
        $controller = Get-Service -Name $service.Name
        $settings = Get-ItemProperty -LiteralPath ($servicesKey + '\' + $service.Name)
        $depends = @($controller.ServicesDependedOn | ForEach-Object { $_.Name })
        $variables = @($settings.Environment | Where-Object { $_ })
        [pscustomobject] @{
            Name = $service.Name
            State = $service.State
            StartMode = $service.StartMode
            ProcessId = [int] $service.ProcessId
            ExitCode = [long] $service.ExitCode
            PathName = $service.PathName
            Description = $service.Description
            DependsOn = $depends
            Environment = $variables
        }
    }
}

$operations['services.put'] = {
    param($wish)
    $service = Get-CimInstance -ClassName Win32_Service | Where-Object { $_.Name -eq $wish.name }
    if ($null -eq $service) {
        $made = @{ Name = $wish.name; BinaryPathName = $wish.commandLine; StartupType = 'Automatic' }
        if (@($wish.dependsOn).Length -gt 0) { $made.DependsOn = [string[]] $wish.dependsOn }
        [void] (New-Service @made)
    } else {
        $changed = @{ PathName = [string] $wish.commandLine; StartMode = 'Automatic' }
        $changed.ServiceDependencies = [string[]] @($wish.dependsOn)
        $result = Invoke-CimMethod -InputObject $service -MethodName Change -Arguments $changed
        Assert-Zero 'Win32_Service.Change' $result.ReturnValue
    }
    $actions = @($wish.restartAfter | ForEach-Object { 'restart/' + [string] [int] $_ }) -join '/'
    [void] (& sc.exe failure $wish.name 'reset=' '900' 'actions=' $actions)
    Assert-Zero 'sc failure' $LASTEXITCODE
    # A program that ends with an error counts as failed, too.
    [void] (& sc.exe failureflag $wish.name '1')
    Assert-Zero 'sc failureflag' $LASTEXITCODE
    $key = $servicesKey + '\' + $wish.name
    Set-ItemProperty -LiteralPath $key -Name Environment -Type MultiString -Value ([string[]] @($wish.environment))
    Set-ItemProperty -LiteralPath $key -Name Description -Type String -Value ([string] $wish.description)
}

$operations['services.start'] = {
    param($wish)
    $controller = Get-Service -Name $wish.name
    if ([string] $controller.Status -eq 'Stopped') { $controller.Start() }
}

$operations['services.stop'] = {
    param($wish)
    $controller = Get-Service -Name $wish.name
    if ([string] $controller.Status -ne 'Stopped') { $controller.Stop() }
}

$operations['services.remove'] = {
    param($wish)
    $service = Get-CimInstance -ClassName Win32_Service | Where-Object { $_.Name -eq $wish.name }
    if ($null -ne $service) {
        $result = Invoke-CimMethod -InputObject $service -MethodName Delete
        # 16: it goes as soon as nobody looks at it any more.
        if ($result.ReturnValue -ne 16) { Assert-Zero 'Win32_Service.Delete' $result.ReturnValue }
    }
}

$operations['networks.list'] = {
    param($wish)
    Get-HnsNetwork
}

$operations['networks.create'] = {
    param($wish)
    $policy = @{ Type = 'VSID'; VSID = [int] $wish.vsid }
    $subnet = @{ AddressPrefix = $wish.subnet; GatewayAddress = $wish.gateway; Policies = @($policy) }
    $network = @{ Type = 'Overlay'; Name = $wish.name; NetworkAdapterName = $wish.adapter; Subnets = @($subnet) }
    # HNSCall
    [void] (Invoke-Hns 'POST' '/networks' (ConvertTo-Json -InputObject $network -Compress -Depth 20))
}

$operations['networks.remove'] = {
    param($wish)
    # HNSCall
    [void] (Invoke-Hns 'DELETE' ('/networks/' + ([guid] $wish.id).ToString()) '')
}

$operations['endpoints.list'] = {
    param($wish)
    Get-HnsEndpoint
}

$operations['endpoints.remove'] = {
    param($wish)
    # HNSCall
    [void] (Invoke-Hns 'DELETE' ('/endpoints/' + ([guid] $wish.id).ToString()) '')
}

$operations['policies.list'] = {
    param($wish)
    # HNSCall
    Invoke-Hns 'GET' '/policylists' ''
}

$operations['policies.remove'] = {
    param($wish)
    # HNSCall
    [void] (Invoke-Hns 'DELETE' ('/policylists/' + ([guid] $wish.id).ToString()) '')
}

$operations['adapters.list'] = {
    param($wish)
    $addresses = @(Get-NetIPAddress -AddressFamily IPv4)
    foreach ($adapter in Get-NetAdapter) {
        $own = @($addresses | Where-Object { $_.InterfaceIndex -eq $adapter.InterfaceIndex } | ForEach-Object {
            [pscustomobject] @{ IPAddress = $_.IPAddress; PrefixLength = [int] $_.PrefixLength }
        })
        [pscustomobject] @{
            Name = $adapter.Name
            InterfaceIndex = [int] $adapter.InterfaceIndex
            Status = [string] $adapter.Status
            MacAddress = $adapter.MacAddress
            Virtual = [bool] $adapter.Virtual
            Addresses = $own
        }
    }
}

$operations['routes.list'] = {
    param($wish)
    $found = Get-NetRoute -AddressFamily IPv4 | Where-Object { $wish.destinations -contains $_.DestinationPrefix }
    foreach ($route in $found) {
        [pscustomobject] @{
            DestinationPrefix = $route.DestinationPrefix
            NextHop = $route.NextHop
            InterfaceIndex = [int] $route.InterfaceIndex
            RouteMetric = [int] $route.RouteMetric
        }
    }
}

$operations['routes.add'] = {
    param($wish)
    $same = Get-NetRoute -AddressFamily IPv4 | Where-Object {
        $_.DestinationPrefix -eq $wish.destination -and $_.InterfaceIndex -eq $wish.interfaceIndex -and $_.NextHop -eq $wish.nextHop
    }
    if ($null -eq $same) {
        [void] (New-NetRoute -DestinationPrefix $wish.destination -NextHop $wish.nextHop -InterfaceIndex $wish.interfaceIndex -RouteMetric $wish.metric -PolicyStore ActiveStore)
    }
}

$operations['routes.remove'] = {
    param($wish)
    $same = Get-NetRoute -AddressFamily IPv4 | Where-Object {
        $_.DestinationPrefix -eq $wish.destination -and $_.InterfaceIndex -eq $wish.interfaceIndex -and $_.NextHop -eq $wish.nextHop
    }
    if ($null -ne $same) { Remove-NetRoute -InputObject $same -Confirm:$false }
}

$operations['ports.list'] = {
    param($wish)
    foreach ($listener in Get-NetTCPConnection -State Listen) {
        [pscustomobject] @{ LocalPort = [int] $listener.LocalPort; OwningProcess = [int] $listener.OwningProcess }
    }
}

$operations['firewall.list'] = {
    param($wish)
    # That there is none is an error to it.
    foreach ($rule in Get-NetFirewallRule -Group $wish.group -ErrorAction SilentlyContinue) {
        $filter = Get-NetFirewallPortFilter -AssociatedNetFirewallRule $rule
        [pscustomobject] @{
            Name = $rule.Name
            Group = $rule.Group
            Enabled = [string] $rule.Enabled
            Direction = [string] $rule.Direction
            Action = [string] $rule.Action
            Protocol = [string] $filter.Protocol
            LocalPort = @($filter.LocalPort | ForEach-Object { [string] $_ })
        }
    }
}

$operations['firewall.put'] = {
    param($wish)
    $former = Get-NetFirewallRule | Where-Object { $_.Name -eq $wish.name }
    if ($null -ne $former) {
        if ($former.Group -ne $wish.group) { throw ('the rule ' + $wish.name + ' is of another group') }
        Remove-NetFirewallRule -InputObject $former
    }
    [void] (New-NetFirewallRule -Name $wish.name -DisplayName $wish.name -Group $wish.group -Direction Inbound -Action Allow -Protocol $wish.protocol -LocalPort $wish.ports -Profile Any)
}

$operations['firewall.remove'] = {
    param($wish)
    $former = Get-NetFirewallRule | Where-Object { $_.Name -eq $wish.name -and $_.Group -eq $wish.group }
    if ($null -ne $former) { Remove-NetFirewallRule -InputObject $former }
}

$operations['environment.get'] = {
    param($wish)
    $value = [Environment]::GetEnvironmentVariable($wish.name, 'Machine')
    if ($null -ne $value) { [pscustomobject] @{ Value = $value } }
}

$operations['environment.set'] = {
    param($wish)
    # Otherwise no value gets there as an empty one, which newer .NET does not take for none.
    $value = [NullString]::Value
    if ($null -ne $wish.value) { $value = [string] $wish.value }
    [Environment]::SetEnvironmentVariable($wish.name, $value, 'Machine')
}

$operations['processes.list'] = {
    param($wish)
    $start = $wish.below.TrimEnd('\') + '\'
    $found = Get-CimInstance -ClassName Win32_Process | Where-Object {
        $_.ExecutablePath -and $_.ExecutablePath.StartsWith($start, [StringComparison]::OrdinalIgnoreCase)
    }
    foreach ($process in $found) {
        [pscustomobject] @{
            ProcessId = [int] $process.ProcessId
            ParentProcessId = [int] $process.ParentProcessId
            ExecutablePath = $process.ExecutablePath
            CreationDate = Get-Instant $process.CreationDate
        }
    }
}

$operations['processes.end'] = {
    param($wish)
    $process = Get-CimInstance -ClassName Win32_Process | Where-Object { $_.ProcessId -eq $wish.id }
    if ($null -ne $process -and $process.ExecutablePath -eq $wish.program) {
        if ((Get-Instant $process.CreationDate) -eq (Get-Instant $wish.startedAt)) { Stop-Process -Id $wish.id -Force }
    }
}

$operations['files.stat'] = {
    param($wish)
    $item = Get-Item -LiteralPath $wish.path -Force -ErrorAction SilentlyContinue
    if ($null -ne $item) {
        $kind = 'file'
        $size = 0
        if ($item.PSIsContainer) { $kind = 'directory' } else { $size = [long] $item.Length }
        [pscustomobject] @{ Kind = $kind; Length = $size; LastWriteTimeUtc = Get-Instant $item.LastWriteTimeUtc }
    }
}

$operations['files.digest'] = {
    param($wish)
    if (Test-Path -LiteralPath $wish.path -PathType Leaf) {
        $hash = Get-FileHash -LiteralPath $wish.path -Algorithm SHA256
        [pscustomobject] @{ Hash = $hash.Hash }
    }
}

$operations['files.read'] = {
    param($wish)
    if (Test-Path -LiteralPath $wish.path -PathType Leaf) {
        [pscustomobject] @{ Text = [IO.File]::ReadAllText($wish.path, $utf8) }
    }
}

$operations['files.write'] = {
    param($wish)
    $whole = $wish.path + '.hyperkube-tmp'
    [IO.File]::WriteAllText($whole, $wish.text, $utf8)
    if (Test-Path -LiteralPath $wish.path) {
        [IO.File]::Replace($whole, $wish.path, [NullString]::Value)
    } else {
        [IO.File]::Move($whole, $wish.path)
    }
}

$operations['files.move'] = {
    param($wish)
    [IO.File]::Move($wish.from, $wish.to)
}

$operations['files.remove'] = {
    param($wish)
    [IO.File]::Delete($wish.path)
}

$operations['files.access'] = {
    param($wish)
    if (Test-Path -LiteralPath $wish.path) {
        $access = Get-Acl -LiteralPath $wish.path
        [pscustomobject] @{ Sddl = $access.Sddl }
    }
}

$operations['files.grant'] = {
    param($wish)
    $access = Get-Acl -LiteralPath $wish.path
    $access.SetSecurityDescriptorSddlForm($wish.sddl)
    Set-Acl -LiteralPath $wish.path -AclObject $access
}

$operations['files.close'] = {
    param($wish)
    $access = Get-Acl -LiteralPath $wish.path
    $form = 'O:SYG:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)'
    if ($access -is [System.Security.AccessControl.DirectorySecurity]) {
        $form = 'O:SYG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)'
    }
    $access.SetSecurityDescriptorSddlForm($form)
    Set-Acl -LiteralPath $wish.path -AclObject $access
}

$operations['system.describe'] = {
    param($wish)
    $version = Get-ItemProperty -LiteralPath $versionKey
    $running = Get-CimInstance -ClassName Win32_OperatingSystem
    $features = @(Get-WindowsFeature -Name Containers, Hyper-V | Where-Object { $_.Installed } | ForEach-Object { $_.Name })
    $machine = Get-ItemProperty -LiteralPath $machineKey
    $identity = [Security.Principal.WindowsIdentity]::GetCurrent()
    $principal = New-Object Security.Principal.WindowsPrincipal($identity)
    [pscustomobject] @{
        ComputerName = [Environment]::MachineName
        CurrentBuildNumber = [string] $version.CurrentBuildNumber
        UBR = [int] $version.UBR
        EditionID = [string] $version.EditionID
        InstallationType = [string] $version.InstallationType
        LastBootUpTime = Get-Instant $running.LastBootUpTime
        MachineGuid = [string] $machine.MachineGuid
        ContainersFeature = [bool] ($features -contains 'Containers')
        HyperVFeature = [bool] ($features -contains 'Hyper-V')
        RebootPending = [bool] (Test-Path -LiteralPath $rebootKey)
        Administrator = [bool] $principal.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
        PSVersion = $PSVersionTable.PSVersion.ToString()
    }
}

# In letters that every code page has.
function Write-Answer($answer) {
    $json = ConvertTo-Json -InputObject $answer -Compress -Depth 20
    $ascii = [regex]::Replace($json, '[^\x20-\x7e]', { param($match) '\u{0:x4}' -f [int] [char] $match.Value })
    [Console]::Out.WriteLine('hyperkube ' + $ascii)
    [Console]::Out.Flush()
}

function Invoke-HyperkubeRequest([string] $line) {
    $id = 0
    try {
        $request = ConvertFrom-Json -InputObject ($utf8.GetString([Convert]::FromBase64String($line)))
        $id = $request.id
        $operation = $operations[[string] $request.operation]
        if ($null -eq $operation) { throw ('there is no operation ' + [string] $request.operation) }
        $output = @(& $operation $request.input | Where-Object { $null -ne $_ })
        Write-Answer @{ id = $id; ok = $true; output = $output }
    } catch {
        $about = @{ message = [string] $_.Exception.Message; type = $_.Exception.GetType().FullName; about = [string] $_.FullyQualifiedErrorId }
        Write-Answer @{ id = $id; ok = $false; error = $about }
    }
}

Write-Answer @{ id = 0; ok = $true; output = @() }
