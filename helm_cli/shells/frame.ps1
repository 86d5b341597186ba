# What completes helm in PowerShell. It is made from helm's own commands: helm completion powershell
# The words of helm stand here. For names of yours it asks the program, and evaluates nothing of the answer.

Register-ArgumentCompleter -Native -CommandName @('@programs@') -ScriptBlock {
    param($word, $line, $cursor)

    # By the path of a command: the commands under it, and its options. `--output,-o` is one with two names, and one with
    # a + may be given again. A description follows each.
    $commands = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    $options = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
    # By the path of a command and an option of it, or the number of an argument: the kind of value.
    $places = New-Object System.Collections.Hashtable ([System.StringComparer]::Ordinal)
@commands@
@options@
@places@

    $typed = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
        else { $_.Extent.Text }
    })
    $program = '@program@'
    if (Get-Command -Name $typed[0] -CommandType Application -ErrorAction SilentlyContinue) { $program = $typed[0] }
    $typed = @($typed | Select-Object -Skip 1)
    $path = ''
    $given = @()
    $awaited = ''
    $ended = $false
    $slot = 0
    foreach ($each in $typed) {
        if ($awaited) { $awaited = '' }
        elseif (-not $ended -and $each -ceq '--') { $ended = $true }
        elseif (-not $ended -and $each -cmatch '^(--[^=]+)=') { $given += $Matches[1] }
        elseif (-not $ended -and $each -cmatch '^(-[^-]).') { $given += $Matches[1] }
        elseif (-not $ended -and $each -cmatch '^-.') {
            $given += $each
            if ($places.ContainsKey("$path $each")) { $awaited = $each }
        }
        elseif (-not $commands.ContainsKey($path)) { $slot += 1 }
        elseif (($commands[$path] | ForEach-Object { $_.Split('|')[0] }) -ccontains $each) { $path = "$path $each".Trim() }
        else { return }
    }

    $before = ''
    $kind = @()
    $found = @()
    $sign = '\|'
    if ($awaited) { $kind = $places["$path $awaited"] }
    elseif (-not $ended -and $word -cmatch '^(--[^=]+)=') {
        $before = $Matches[0]
        $kind = @($places["$path $($Matches[1])"])
    }
    elseif (-not $ended -and $word -cmatch '^-') { $kind = @('options') }
    elseif ($commands.ContainsKey($path)) { $found = $commands[$path] }
    elseif ($places.ContainsKey("$path $slot")) { $kind = $places["$path $slot"] }
    elseif (-not $ended) { $kind = @('options') }

    switch ($kind | Select-Object -First 1) {
        'words' { $found = $kind | Select-Object -Skip 1 }
        'ask' {
            $found = & $program --complete $kind[1] @typed 2>$null
            $sign = "`t"
        }
        'variable' { $found = Get-ChildItem -Path Env: | ForEach-Object { $_.Name } }
        'options' {
            foreach ($option in $options[$path]) {
                $names, $about = $option -split '\|', 2
                $each = $names.TrimEnd('+').Split(',')
                $again = $names.EndsWith('+') -or -not ($each | Where-Object { $given -ccontains $_ })
                if ($again) { $found += $each | ForEach-Object { "$_|$about" } }
            }
        }
    }

    # Where nothing is found, PowerShell completes files by itself.
    foreach ($one in $found) {
        $text, $about = $one -split $sign, 2
        $text = $before + $text
        if (-not $text.StartsWith($word.Trim("'"), [System.StringComparison]::Ordinal)) { continue }
        $quoted = $text
        if ($text -cnotmatch '^[A-Za-z0-9_./:=+-]+$') { $quoted = "'" + $text.Replace("'", "''") + "'" }
        if (-not $about) { $about = $text }
        [System.Management.Automation.CompletionResult]::new($quoted, $text, 'ParameterValue', $about)
    }
}
