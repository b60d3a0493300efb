<?php

require __DIR__ . '/verify.php';

while (($line = fgets(STDIN)) !== false) {
    [$id, $secrets, $body, $header, $now] = explode("\t", rtrim($line, "\n"));
    $known = array_map('base64_decode', explode(',', $secrets));
    $given = $header === '-' ? null : base64_decode($header);
    $verdict = verify($known, base64_decode($body), $given, (int) $now);
    echo $id, "\t", $verdict ? 'true' : 'false', "\n";
}
